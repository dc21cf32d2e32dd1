import assert from "node:assert/strict";
import { test } from "node:test";
import * as THREE from "three";

import { empty } from "../src/dispose";

test("what is taken out of the view is given back: shapes, materials, pictures, copies", () => {
  const given: string[] = [];
  const texture = new THREE.Texture();
  const plate = new THREE.Mesh(new THREE.BoxGeometry(), new THREE.MeshBasicMaterial({ map: texture }));
  const copies = new THREE.InstancedMesh(new THREE.BoxGeometry(), new THREE.MeshBasicMaterial(), 2);
  texture.addEventListener("dispose", () => given.push("texture"));
  plate.geometry.addEventListener("dispose", () => given.push("shape"));
  plate.material.addEventListener("dispose", () => given.push("material"));
  copies.addEventListener("dispose", () => given.push("copies"));
  const group = new THREE.Group().add(new THREE.Group().add(plate), copies);
  empty(group);
  assert.deepEqual(given.sort(), ["copies", "material", "shape", "texture"]);
  assert.equal(group.children.length, 0);
});
