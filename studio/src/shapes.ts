// From a shape message to a drawable object.

import * as THREE from "three";

import type { Shape } from "./wire";

export function quaternionOf(wxyz: ArrayLike<number>, at: number): THREE.Quaternion {
  return new THREE.Quaternion(wxyz[at + 1], wxyz[at + 2], wxyz[at + 3], wxyz[at]);
}

export function meshOf(shape: Shape): THREE.Mesh {
  const [r, g, b, a] = shape.rgba as [number, number, number, number];
  const color = new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace);
  const material = new THREE.MeshStandardMaterial({ color, roughness: 0.5, metalness: 0.12, transparent: a < 1, opacity: a });
  const mesh = new THREE.Mesh(geometryOf(shape), material);
  mesh.position.fromArray(shape.pos);
  mesh.quaternion.copy(quaternionOf(shape.quat, 0));
  mesh.castShadow = mesh.receiveShadow = true;
  mesh.userData["body"] = shape.body;
  return mesh;
}

function geometryOf(shape: Shape): THREE.BufferGeometry {
  const [x, y, z] = shape.size as [number, number, number];
  switch (shape.kind) {
    case "box":
      return new THREE.BoxGeometry(2 * x, 2 * y, 2 * z);
    case "sphere":
      return new THREE.SphereGeometry(x, 48, 32);
    case "ellipsoid":
      return new THREE.SphereGeometry(1, 40, 28).scale(x, y, z);
    case "cylinder":
      return new THREE.CylinderGeometry(x, x, 2 * y, 40).rotateX(Math.PI / 2);
    case "capsule":
      return new THREE.CapsuleGeometry(x, 2 * y, 12, 32).rotateX(Math.PI / 2);
    case "mesh": {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.Float32BufferAttribute(shape.vertices ?? [], 3));
      geometry.setIndex(shape.faces ?? []);
      geometry.computeVertexNormals();
      return geometry;
    }
  }
}
