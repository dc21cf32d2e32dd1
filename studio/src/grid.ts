// The ground: a grid that fades out. Its lines are many short ones, because some drivers lose long ones near the camera.

import * as THREE from "three";

const HALF = 4;
const CELL = 0.2;

export function gridOf(line: number, back: number): THREE.LineSegments {
  const near = new THREE.Color(line);
  const far = new THREE.Color(back);
  const points: number[] = [];
  const colours: number[] = [];
  const add = (x: number, y: number) => {
    points.push(x, y, 0);
    colours.push(...near.clone().lerp(far, Math.min(1, Math.hypot(x, y) / HALF)).toArray());
  };
  const n = Math.round(HALF / CELL);
  for (let i = -n; i <= n; i++) {
    for (let j = -n; j < n; j++) {
      add(i * CELL, j * CELL);
      add(i * CELL, (j + 1) * CELL);
      add(j * CELL, i * CELL);
      add((j + 1) * CELL, i * CELL);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
  return new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ vertexColors: true }));
}
