// Frees the graphics memory of what was drawn.

import * as THREE from "three";

/** Empties a group and frees its shapes, materials and textures. */
export function empty(group: THREE.Object3D): void {
  group.traverse((part) => {
    if (part === group || !(part instanceof THREE.Mesh || part instanceof THREE.LineSegments)) return;
    give(part);
  });
  group.clear();
}

/** Frees the memory of a mesh or of lines. */
export function give(part: THREE.Mesh | THREE.LineSegments): void {
  part.geometry.dispose();
  for (const material of [part.material].flat()) {
    for (const value of Object.values(material)) if (value instanceof THREE.Texture) value.dispose();
    material.dispose();
  }
  if (part instanceof THREE.InstancedMesh) part.dispose();
}
