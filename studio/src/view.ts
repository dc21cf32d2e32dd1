// The robot in three dimensions: shapes on bodies, the goal, the force, a direction of the law; orbit and pushing.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

import { Arrow } from "./arrow";
import { isPlanar, standFor } from "./camera";
import { empty, give } from "./dispose";
import { write } from "./dom";
import { Floor } from "./floor";
import { allFinite } from "./gaps";
import { gridOf } from "./grid";
import { Hands } from "./hands";
import { finestOf, hasMoved, type Scene } from "./moved";
import { meshOf, quaternionOf } from "./shapes";
import { turnByKeys } from "./turn";
import type { MissionWords, Shape } from "./wire";

// Views that follow a driving base; the others show the whole map.
const ALONG = ["Front", "Side", "Tool"];
// For an arm with a reach of one metre; scaled for other arms.
const METRES_PER_NEWTON = 0.02;
const LONGEST = 0.45;
const THICK = 0.0055;
// It counts as at rest when nothing has moved for this long [ms].
const REST_MS = 1000;
const SUN = new THREE.Vector3(1.2, -1.6, 3);
const COLOURS = { force: 0xff9f1c, arrow: 0x2fbf71, push: 0x8f6bff, goal: 0xff9f1c };

export interface Look {
  goal: ArrayLike<number>;
  tool: ArrayLike<number>;
  force: ArrayLike<number>;
  /** A direction at the tool that the law declares. */
  arrow: ArrayLike<number>;
  /** The virtual push. */
  push: ArrayLike<number>;
  /** x, y [m] and heading [rad] of the base that the arm rides on. */
  base: ArrayLike<number>;
}

export class View {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(36, 1, 0.02, 120);
  readonly renderer: THREE.WebGLRenderer;
  controls: OrbitControls;
  readonly arm = new THREE.Group();
  readonly hands: Hands;
  readonly tool = new THREE.Vector3();
  readonly goal = new THREE.AxesHelper(0.1);
  readonly knob = ball(COLOURS.goal);
  readonly handle = ball(COLOURS.push);
  readonly floor = new Floor(() => this.redraw());
  planar = false;
  size = 1;

  private bodies: THREE.Group[] = [];
  private readonly force = new Arrow(COLOURS.force);
  private readonly arrow = new Arrow(COLOURS.arrow);
  private readonly push = new Arrow(COLOURS.push);
  private readonly label: HTMLElement;
  private grid = gridOf(0, 0);
  private light = false;
  private fitted = false;
  private name = "Free";
  private readonly sun = new THREE.DirectionalLight(0xffffff, 2.4);
  private readonly shade = new THREE.Mesh(new THREE.PlaneGeometry(8, 8), new THREE.ShadowMaterial({ opacity: 0.28 }));
  private readonly stood = new THREE.Vector3();
  private now: Scene | null = null;
  private drawn: Scene | null = null;
  private stirred = 0;
  private asked = false;

  constructor(
    private readonly holder: HTMLElement,
    badge: HTMLElement,
    low: boolean,
  ) {
    this.renderer = new THREE.WebGLRenderer({ antialias: !low, powerPreference: low ? "low-power" : "default" });
    this.renderer.setPixelRatio(low ? 0.5 : Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = !low;
    holder.prepend(this.renderer.domElement);
    this.renderer.domElement.dataset["testid"] = "canvas";
    this.label = holder.appendChild(document.createElement("div"));
    this.label.className = "overlay label";
    this.label.hidden = true;
    this.controls = this.orbit();
    this.furnish(low);
    this.hands = new Hands(this, badge);
    turnByKeys(holder, () => this.controls);
    new ResizeObserver(() => this.resize()).observe(holder);
    this.renderer.domElement.addEventListener("webglcontextrestored", () => this.redraw());
  }

  /** Rebuilds the controls: they read the camera's up direction only once, and a planar arm has another. */
  private orbit(): OrbitControls {
    this.camera.up.set(0, this.planar ? 1 : 0, this.planar ? 0 : 1);
    const controls = new OrbitControls(this.camera, this.renderer.domElement);
    controls.maxDistance = this.floor.extent ? 60 : 12;
    controls.addEventListener("change", () => {
      say("camera", this.camera.position.toArray(), 3);
      this.redraw();
    });
    return controls;
  }

  get newtonMetres(): number {
    return METRES_PER_NEWTON * this.size;
  }

  /** Whether nothing has moved for a while. */
  get rests(): boolean {
    return performance.now() - this.stirred > REST_MS;
  }

  /** Draws with the next screen frame, once, however often it is called. */
  redraw(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.render();
    });
  }

  /** Shows or hides the ball of the virtual push. */
  offer(handle: boolean): void {
    this.handle.visible = handle;
    this.redraw();
  }

  look(name: string): void {
    this.name = name;
    const box = this.seen(name);
    const middle = box.getCenter(new THREE.Vector3());
    const whole = this.floor.extent !== null && !ALONG.includes(name);
    let radius = whole ? 1 : Math.max(0.3, 0.5 * box.getSize(new THREE.Vector3()).length());
    do {
      radius *= whole ? 1.05 : 1;
      const stand = standFor(name, this.planar, middle.toArray(), radius, this.tool.toArray(), this.floor.extent !== null);
      this.camera.position.set(...stand.from);
      this.controls.target.set(...stand.to);
      this.camera.lookAt(this.controls.target);
      this.camera.updateMatrixWorld();
    } while (whole && radius < 1e3 && !this.holds(box));
    this.controls.update();
    this.redraw();
  }

  /** Whether all corners of a box on the floor are in the view, with room for the labels. */
  private holds(box: THREE.Box3): boolean {
    const corners = [box.min.x, box.max.x].flatMap((x) => [box.min.y, box.max.y].map((y) => new THREE.Vector3(x, y, 0).project(this.camera)));
    return corners.every((corner) => Math.abs(corner.x) < 0.96 && corner.y > -0.88 && corner.y < 0.78);
  }

  /** What a view shows: the robot, or the whole map. */
  private seen(name: string): THREE.Box3 {
    const extent = this.floor.extent;
    if (!extent || ALONG.includes(name)) return new THREE.Box3().setFromObject(this.arm);
    const [left, right, bottom, top] = extent;
    return new THREE.Box3(new THREE.Vector3(left, bottom, 0), new THREE.Vector3(right, top, 0));
  }

  theme(light: boolean): void {
    this.light = light;
    const back = light ? 0xe9eef4 : 0x141a21;
    this.scene.background = new THREE.Color(back);
    this.scene.remove(this.grid);
    give(this.grid);
    this.grid = gridOf(light ? 0xb3c0cd : 0x46535f, back);
    if (this.planar) this.grid.position.z = -0.15;
    this.grid.visible = this.shade.visible = this.floor.extent === null;
    this.scene.add(this.grid);
    this.floor.theme(light);
    this.redraw();
  }

  private furnish(low: boolean): void {
    const { sun, shade } = this;
    sun.position.copy(SUN);
    sun.castShadow = !low;
    sun.shadow.mapSize.set(2048, 2048);
    sun.shadow.radius = 4;
    for (const side of ["left", "bottom"] as const) sun.shadow.camera[side] = -1.5;
    for (const side of ["right", "top"] as const) sun.shadow.camera[side] = 1.5;
    shade.receiveShadow = true;
    shade.position.z = -0.004;
    shade.material.depthWrite = false;
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8090a0, 1.7), sun, sun.target, shade, this.floor, this.arm);
    this.scene.add(this.goal, this.force, this.arrow, this.push, this.handle);
    this.goal.visible = this.handle.visible = false;
    this.goal.add(this.knob);
  }

  /** Rebuilds the bodies of a scene. */
  build(shapes: Shape[], bodies: number, up: number[], mission: MissionWords | null): void {
    empty(this.arm);
    this.bodies = Array.from({ length: bodies }, () => new THREE.Group());
    this.arm.add(...this.bodies);
    for (const shape of shapes) this.bodies[shape.body]?.add(meshOf(shape));
    this.floor.build(mission, this.light);
    this.planar = isPlanar(up);
    this.controls.dispose();
    this.controls = this.orbit();
    this.fitted = false;
    this.now = this.drawn = null;
    this.theme(this.light);
  }

  /** Moves everything to its pose in a frame. */
  show(poses: Float32Array, look: Look): void {
    this.bodies.forEach((body, i) => {
      body.visible = allFinite(poses, 7 * i, 7); // what is nowhere is not drawn
      if (!body.visible) return;
      body.position.set(poses[7 * i]!, poses[7 * i + 1]!, poses[7 * i + 2]!);
      body.quaternion.copy(quaternionOf(poses, 7 * i + 3));
    });
    if (allFinite(look.tool)) this.tool.set(look.tool[0]!, look.tool[1]!, look.tool[2]!);
    this.goal.visible = allFinite(look.goal);
    if (this.goal.visible) {
      this.goal.position.set(look.goal[0]!, look.goal[1]!, look.goal[2]!);
      this.goal.quaternion.copy(quaternionOf(look.goal, 3));
    }
    if (allFinite(look.base)) this.ride(look.base);
    if (!this.fitted) this.fit();
    const thick = THICK * this.size;
    this.force.point(this.tool, this.inMetres(look.force), thick);
    this.arrow.point(this.tool, new THREE.Vector3(...Array.from(look.arrow)).multiplyScalar(0.11 * this.size), 0.7 * thick);
    if (allFinite(look.push)) this.hands.place(look.push);
    this.push.point(this.tool, this.inMetres(look.push), thick);
    this.tell(look.force);
    this.mark("knob", this.goal.position);
    if (this.handle.visible) this.mark("handle", this.handle.position);
    this.notice(poses, look);
  }

  /** Draws if a change is visible. */
  private notice(poses: Float32Array, look: Look): void {
    const arrows = [this.force, this.arrow, this.push].map((arrow) => arrow.way.toArray());
    this.now = { poses, goal: look.goal, places: [this.tool.toArray(), this.handle.position.toArray()], arrows };
    const distance = this.camera.position.distanceTo(this.controls.target);
    const finest = finestOf(distance, this.camera.fov, this.renderer.domElement.height, this.size, this.newtonMetres);
    if (!hasMoved(this.drawn, this.now, finest)) return;
    this.stirred = performance.now();
    this.redraw();
  }

  /** Light, trail and some views follow a base. */
  private ride(base: ArrayLike<number>): void {
    const way = new THREE.Vector3(base[0], base[1], 0).sub(this.stood);
    this.stood.add(way);
    this.sun.target.position.copy(this.stood);
    this.sun.position.copy(SUN).add(this.stood);
    if (!this.floor.extent) return;
    this.floor.drive(this.stood.x, this.stood.y);
    if (!ALONG.includes(this.name) || !this.fitted) return;
    this.camera.position.add(way);
    this.controls.target.add(way);
  }

  /** Where a point is on the canvas [px]. */
  private onScreen(point: THREE.Vector3): [number, number] {
    const at = point.clone().project(this.camera);
    const { clientWidth: width, clientHeight: height } = this.holder;
    return [(0.5 + 0.5 * at.x) * width, (0.5 - 0.5 * at.y) * height];
  }

  private mark(name: string, point: THREE.Vector3): void {
    say(name, this.onScreen(point), 1);
  }

  /** A force [N] as a length [m] in the view. */
  private inMetres(force: ArrayLike<number>): THREE.Vector3 {
    return new THREE.Vector3(force[0], force[1], force[2]).multiplyScalar(this.newtonMetres).clampLength(0, LONGEST * this.size);
  }

  /** Writes the force beside its arrow. */
  private tell(force: ArrayLike<number>): void {
    this.label.hidden = !this.force.visible;
    if (this.label.hidden) return;
    write(this.label, `${Math.hypot(force[0]!, force[1]!, force[2]!).toFixed(1)} N`);
    const [x, y] = this.onScreen(this.force.tip);
    this.label.style.transform = `translate(${Math.round(x + 8)}px, ${Math.round(y - 22)}px)`;
  }

  /** Measures a scene that is shown for the first time. */
  private fit(): void {
    this.fitted = true;
    const extent = new THREE.Box3().setFromObject(this.arm).getSize(new THREE.Vector3()).length();
    this.size = Math.min(3, Math.max(0.4, extent));
    this.goal.scale.setScalar(this.size);
    this.handle.scale.setScalar(this.size);
    this.look(this.name);
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.holder;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.render();
  }

  private render(): void {
    this.drawn = this.now;
    this.renderer.render(this.scene, this.camera);
  }
}

/** Reports positions, for programs that control the page. */
function say(name: string, place: number[], digits: number): void {
  const words = place.map((value) => value.toFixed(digits)).join(" ");
  if (document.body.dataset[name] !== words) document.body.dataset[name] = words;
}

function ball(colour: number): THREE.Mesh {
  return new THREE.Mesh(
    new THREE.SphereGeometry(0.02, 24, 16),
    new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity: 0.6 }),
  );
}
