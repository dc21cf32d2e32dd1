// Bundles the page into one folder (first argument; `out/page` by default), or its tests with --tests.
import { build } from "esbuild";
import { cp, mkdir, readFile, readdir, writeFile } from "node:fs/promises";

const common = { bundle: true, target: "es2022", format: "esm", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  const tests = (await readdir("tests")).filter((name) => name.endsWith(".test.ts"));
  await build({
    ...common,
    entryPoints: tests.map((name) => `tests/${name}`),
    outdir: "out/tests",
    outExtension: { ".js": ".mjs" },
    platform: "node",
  });
} else {
  const folder = process.argv[2] ?? "out/page";
  await mkdir(folder, { recursive: true });
  await build({ ...common, entryPoints: ["src/main.ts"], outfile: `${folder}/app.js`, minify: true, legalComments: "none" });
  await build({ ...common, entryPoints: ["src/style.css"], outfile: `${folder}/style.css`, minify: true });
  await cp("index.html", `${folder}/index.html`);
  const bundled = ["three", "uplot"];
  const licences = bundled.map(async (name) => `${name}\n\n${await readFile(`node_modules/${name}/LICENSE`, "utf8")}`);
  await writeFile(`${folder}/licences.txt`, (await Promise.all(licences)).join("\n\n"));
}
