// An arrow that is visible from a distance: that of three.js is a line of one pixel.

import * as THREE from "three";

const UP = new THREE.Vector3(0, 1, 0);

export class Arrow extends THREE.Group {
  private readonly shaft: THREE.Mesh;
  private readonly head: THREE.Mesh;
  /** The position of its point. */
  readonly tip = new THREE.Vector3();
  /** The vector shown; zero while it is hidden. */
  readonly way = new THREE.Vector3();

  constructor(colour: number) {
    super();
    const material = new THREE.MeshStandardMaterial({ color: colour, emissive: colour, emissiveIntensity: 0.45, roughness: 0.6 });
    this.shaft = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 16).translate(0, 0.5, 0), material);
    this.head = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 20).translate(0, 0.5, 0), material);
    this.add(this.shaft, this.head);
    this.visible = false;
  }

  /** From a point along a vector [m]; `thick` is the radius of the shaft [m]. Hidden if too short to see. */
  point(from: THREE.Vector3, vector: THREE.Vector3, thick: number): void {
    const length = vector.length();
    this.visible = length > 4 * thick;
    this.tip.copy(from).add(vector);
    this.way.set(0, 0, 0);
    if (!this.visible) return;
    this.way.copy(vector);
    const head = Math.min(7 * thick, 0.6 * length);
    this.position.copy(from);
    this.quaternion.setFromUnitVectors(UP, vector.clone().divideScalar(length));
    this.shaft.scale.set(thick, length - head, thick);
    this.head.position.y = length - head;
    this.head.scale.set(2.6 * thick, head, 2.6 * thick);
  }
}
