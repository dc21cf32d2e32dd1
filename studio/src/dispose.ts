// What was drawn lies in the memory of the graphics card until it is given back.

import * as THREE from "three";

/** Takes everything out of a group and gives back what it took: shapes, materials and their pictures. */
export function empty(group: THREE.Object3D): void {
  group.traverse((part) => {
    if (part === group || !(part instanceof THREE.Mesh || part instanceof THREE.LineSegments)) return;
    give(part);
  });
  group.clear();
}

/** Gives back what a mesh or lines took. */
export function give(part: THREE.Mesh | THREE.LineSegments): void {
  part.geometry.dispose();
  for (const material of [part.material].flat()) {
    for (const value of Object.values(material)) if (value instanceof THREE.Texture) value.dispose();
    material.dispose();
  }
  if (part instanceof THREE.InstancedMesh) part.dispose();
}
