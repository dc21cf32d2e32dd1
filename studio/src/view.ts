// The robot in three dimensions: shapes on bodies, the goal, the force, the contact normal; orbit and pushing.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

import { forceFor, newtons, type Vector } from "./force";
import type { Shape } from "./wire";

const METRES_PER_NEWTON = 0.006;
const PUSH_EVERY_MS = 50;

export interface Look {
  goal: ArrayLike<number>;
  tool: ArrayLike<number>;
  force: ArrayLike<number>;
  normal: ArrayLike<number>;
}

const VIEWS: Record<string, [Vector, Vector]> = {
  Free: [[1.6, -1.5, 1.15], [0.2, 0, 0.4]],
  Front: [[2.2, 0, 0.6], [0.2, 0, 0.4]],
  Side: [[0.2, -2.2, 0.6], [0.2, 0, 0.4]],
  Top: [[0.2, -0.01, 2.6], [0.2, 0, 0.3]],
};

export class View {
  onPush: (force: Vector) => void = () => {};
  onGoal: (position: Vector) => void = () => {};
  pushable = false;

  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly camera = new THREE.PerspectiveCamera(40, 1, 0.05, 40);
  private readonly controls: OrbitControls;
  private readonly arm = new THREE.Group();
  private bodies: THREE.Group[] = [];
  private readonly goal = new THREE.AxesHelper(0.09);
  private readonly force = new THREE.ArrowHelper(new THREE.Vector3(1, 0, 0), new THREE.Vector3(), 0.1, 0xf5a623);
  private readonly normal = new THREE.ArrowHelper(new THREE.Vector3(0, 0, 1), new THREE.Vector3(), 0.12, 0x4cc38a);
  private readonly pull = new THREE.ArrowHelper(new THREE.Vector3(1, 0, 0), new THREE.Vector3(), 0.1, 0x4c9be8);
  private grid = new THREE.GridHelper();
  private readonly tool = new THREE.Vector3();
  private readonly knob = new THREE.Mesh(
    new THREE.SphereGeometry(0.022, 24, 16),
    new THREE.MeshBasicMaterial({ color: 0xf5a623, transparent: true, opacity: 0.55 }),
  );
  private carry: { plane: THREE.Plane; off: THREE.Vector3; sent: number } | null = null;
  private drag: { plane: THREE.Plane; from: THREE.Vector3; at: THREE.Vector3; pointer: number } | null = null;
  private pushTimer = 0;
  private dirty = true;

  constructor(
    private readonly holder: HTMLElement,
    private readonly badge: HTMLElement,
    low: boolean,
  ) {
    this.renderer = new THREE.WebGLRenderer({ antialias: !low, powerPreference: low ? "low-power" : "default" });
    this.renderer.setPixelRatio(low ? 0.5 : Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = !low;
    holder.prepend(this.renderer.domElement);
    this.renderer.domElement.dataset["testid"] = "canvas";
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.maxDistance = 8;
    this.controls.addEventListener("change", () => (this.dirty = true));
    this.look("Free");
    this.furnish(low);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(holder);
    const draw = () => {
      requestAnimationFrame(draw);
      if (this.dirty) this.render();
    };
    draw();
  }

  static views(): string[] {
    return Object.keys(VIEWS);
  }

  look(name: string): void {
    const [from, to] = VIEWS[name]!;
    this.camera.position.set(...from);
    this.controls.target.set(...to);
    this.controls.update();
    this.dirty = true;
  }

  theme(light: boolean): void {
    this.scene.background = new THREE.Color(light ? 0xe6ebf1 : 0x161b22);
    this.scene.remove(this.grid);
    this.grid.dispose();
    this.grid = light ? new THREE.GridHelper(6, 24, 0xa9b5c2, 0xcdd6df) : new THREE.GridHelper(6, 24, 0x46515d, 0x2b343f);
    this.grid.rotation.x = Math.PI / 2;
    this.scene.add(this.grid);
    this.dirty = true;
  }

  private furnish(low: boolean): void {
    const sun = new THREE.DirectionalLight(0xffffff, 2.2);
    sun.position.set(1.2, -1.6, 3);
    sun.castShadow = !low;
    sun.shadow.mapSize.set(1024, 1024);
    for (const side of ["left", "bottom"] as const) sun.shadow.camera[side] = -1.5;
    for (const side of ["right", "top"] as const) sun.shadow.camera[side] = 1.5;
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x556070, 1.3), sun, this.arm);
    this.scene.add(this.goal, this.force, this.normal, this.pull);
    for (const arrow of [this.force, this.normal, this.pull]) arrow.visible = false;
    this.goal.visible = false;
    this.goal.add(this.knob);
  }

  /** Builds the bodies of a cell anew. */
  build(shapes: Shape[], bodies: number): void {
    this.arm.clear();
    this.bodies = Array.from({ length: bodies }, () => new THREE.Group());
    this.arm.add(...this.bodies);
    for (const shape of shapes) {
      const [r, g, b, a] = shape.rgba as [number, number, number, number];
      const color = new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace);
      const material = new THREE.MeshStandardMaterial({ color, roughness: 0.55, metalness: 0.1, transparent: a < 1, opacity: a });
      const mesh = new THREE.Mesh(geometryOf(shape), material);
      mesh.position.fromArray(shape.pos);
      mesh.quaternion.copy(quaternionOf(shape.quat, 0));
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.userData["body"] = shape.body;
      this.bodies[shape.body]?.add(mesh);
    }
    this.dirty = true;
  }

  /** Moves everything to where a frame says it is. */
  show(poses: Float32Array, look: Look): void {
    this.bodies.forEach((body, i) => {
      body.position.set(poses[7 * i]!, poses[7 * i + 1]!, poses[7 * i + 2]!);
      body.quaternion.copy(quaternionOf(poses, 7 * i + 3));
    });
    this.tool.set(look.tool[0]!, look.tool[1]!, look.tool[2]!);
    this.goal.visible = true;
    this.goal.position.set(look.goal[0]!, look.goal[1]!, look.goal[2]!);
    this.goal.quaternion.copy(quaternionOf(look.goal, 3));
    this.point(this.force, look.force, METRES_PER_NEWTON, 0.012);
    this.point(this.normal, look.normal, 0.12, 0.05);
    this.dirty = true;
  }

  private point(arrow: THREE.ArrowHelper, vector: ArrayLike<number>, scale: number, least: number): void {
    const v = new THREE.Vector3(vector[0], vector[1], vector[2]);
    const length = v.length() * scale;
    arrow.visible = length > least;
    if (!arrow.visible) return;
    arrow.position.copy(this.tool);
    arrow.setDirection(v.normalize());
    arrow.setLength(Math.min(length, 0.6), 0.03, 0.018);
  }

  // ---- pushing ----

  private listen(): void {
    const canvas = this.renderer.domElement;
    canvas.addEventListener("pointerdown", (event) => this.grab(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) canvas.addEventListener(end, () => this.release());
    window.addEventListener("blur", () => this.release());
    document.addEventListener("visibilitychange", () => document.hidden && this.release());
  }

  private ray(event: PointerEvent): THREE.Raycaster {
    const box = this.renderer.domElement.getBoundingClientRect();
    const at = new THREE.Vector2(
      (2 * (event.clientX - box.left)) / box.width - 1,
      1 - (2 * (event.clientY - box.top)) / box.height,
    );
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.camera);
    return ray;
  }

  private grab(event: PointerEvent): void {
    if (!this.pushable || event.button !== 0) return;
    if (this.take(event)) return;
    const hit = this.ray(event).intersectObject(this.arm, true).find((item) => item.object.userData["body"] !== 0);
    if (!hit) return;
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(this.camera.getWorldDirection(new THREE.Vector3()), hit.point);
    this.drag = { plane, from: hit.point.clone(), at: hit.point.clone(), pointer: event.pointerId };
    this.controls.enabled = false;
    this.renderer.domElement.setPointerCapture(event.pointerId);
    this.pushTimer = window.setInterval(() => this.push(), PUSH_EVERY_MS);
    this.move(event);
    event.stopImmediatePropagation();
  }

  /** Takes hold of the goal, if it is under the pointer. */
  private take(event: PointerEvent): boolean {
    const [hit] = this.ray(event).intersectObject(this.knob);
    if (!hit) return false;
    const at = this.goal.position.clone();
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(this.camera.getWorldDirection(new THREE.Vector3()), hit.point);
    this.carry = { plane, off: at.sub(hit.point), sent: 0 };
    this.controls.enabled = false;
    this.renderer.domElement.setPointerCapture(event.pointerId);
    event.stopImmediatePropagation();
    return true;
  }

  private bring(event: PointerEvent): void {
    const now = performance.now();
    const to = new THREE.Vector3();
    if (!this.carry || now - this.carry.sent < PUSH_EVERY_MS || !this.ray(event).ray.intersectPlane(this.carry.plane, to)) return;
    this.carry.sent = now;
    to.add(this.carry.off);
    this.onGoal([to.x, to.y, to.z]);
  }

  private move(event: PointerEvent): void {
    if (this.carry) this.bring(event);
    if (!this.drag) return;
    this.ray(event).ray.intersectPlane(this.drag.plane, this.drag.at);
    const force = this.pulled();
    this.badge.textContent = newtons(force);
    this.badge.style.left = `${event.offsetX}px`;
    this.badge.style.top = `${event.offsetY}px`;
    this.badge.hidden = false;
    const way = this.drag.at.clone().sub(this.drag.from);
    this.pull.visible = way.length() > 0.01;
    this.pull.position.copy(this.drag.from);
    this.pull.setDirection(way.clone().normalize());
    this.pull.setLength(Math.max(way.length(), 0.02), 0.03, 0.018);
    this.dirty = true;
  }

  private pulled(): Vector {
    if (!this.drag) return [0, 0, 0];
    const way = this.drag.at.clone().sub(this.drag.from);
    return forceFor([way.x, way.y, way.z]);
  }

  private push(): void {
    if (this.drag) this.onPush(this.pulled());
  }

  /** Lets go: whatever ends a drag, the last word is no force. */
  release(): void {
    if (this.carry) {
      this.carry = null;
      this.controls.enabled = true;
    }
    if (!this.drag) return;
    this.drag = null;
    window.clearInterval(this.pushTimer);
    this.controls.enabled = true;
    this.badge.hidden = true;
    this.pull.visible = false;
    this.dirty = true;
    this.onPush([0, 0, 0]);
  }

  // ---- drawing ----

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.holder;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.render();
  }

  private render(): void {
    this.dirty = false;
    this.renderer.render(this.scene, this.camera);
  }
}

function quaternionOf(wxyz: ArrayLike<number>, at: number): THREE.Quaternion {
  return new THREE.Quaternion(wxyz[at + 1], wxyz[at + 2], wxyz[at + 3], wxyz[at]);
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
