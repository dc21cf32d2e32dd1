// What a pointer can drag in the view: the arm, to push it; the goal; the virtual push.

import * as THREE from "three";

import { Arrow } from "./arrow";
import { forceFor, newtons, pulledBy, type Vector } from "./force";
import type { View } from "./view";

const SEND_EVERY_MS = 50;
// A pointer that moves less than this is a click, not a drag.
const STILL_PX = 5;
// Distance of the ball of a virtual push from the point of its arrow, for an arm of one metre [m].
const GAP = 0.06;

interface Grip {
  what: "arm" | "goal" | "force";
  /** The pointer that drags; other pointers are ignored meanwhile. */
  pointer: number;
  plane: THREE.Plane;
  from: THREE.Vector3;
  at: THREE.Vector3;
  sent: number;
}

export class Hands {
  onPush: (force: Vector) => void = () => {};
  onGoal: (position: Vector) => void = () => {};
  onForce: (force: Vector) => void = () => {};
  /** The floor of a mission was clicked at x, y [m]. */
  onFloor: (place: [number, number]) => void = () => {};
  /** Whether the arm can be pushed: a simulated one. */
  pushable = false;
  /** Whether goal and virtual push can be moved: not while a recording is shown. */
  movable = false;
  /** Whether a goal can be chosen on the map. */
  aimable = false;
  /** Why a drag of the arm, the goal or the virtual push has no effect now; "" if it has one. */
  whyInert: (what: Grip["what"]) => string = () => "";
  /** A drag without effect begins: the reason. */
  onInert: (why: string) => void = () => {};

  private pressed = [0, 0];
  /** Why the drag that may begin now has no effect. */
  private inert = "";
  private grip: Grip | null = null;
  private timer = 0;
  private readonly pull = new Arrow(0x4c9be8);

  constructor(
    private readonly view: View,
    private readonly badge: HTMLElement,
  ) {
    view.scene.add(this.pull);
    const canvas = view.renderer.domElement;
    canvas.addEventListener("pointerdown", (event) => this.grab(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("click", (event) => this.press(event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
      canvas.addEventListener(end, (event) => event.pointerId === this.grip?.pointer && this.release());
    }
    window.addEventListener("blur", () => this.release());
    document.addEventListener("visibilitychange", () => document.hidden && this.release());
  }

  /** Puts the ball of the virtual push in front of the point of its arrow, or above the tool if there is no push. */
  place(push: ArrayLike<number>): void {
    const { view } = this;
    const way = new THREE.Vector3(push[0], push[1], push[2]).multiplyScalar(view.newtonMetres);
    const beyond = way.lengthSq() > 0 ? way.clone().normalize() : view.camera.up;
    view.handle.position.copy(view.tool).add(way).addScaledVector(beyond, this.gap);
  }

  private get gap(): number {
    return GAP * this.view.size;
  }

  /** A click on the map. */
  private press(event: MouseEvent): void {
    const extent = this.view.floor.extent;
    const dragged = Math.hypot(event.clientX - this.pressed[0]!, event.clientY - this.pressed[1]!);
    if (!this.aimable || !extent || dragged > STILL_PX) return;
    const at = this.ray(event).ray.intersectPlane(new THREE.Plane(new THREE.Vector3(0, 0, 1)), new THREE.Vector3());
    const [left, right, bottom, top] = extent;
    if (at && at.x >= left && at.x <= right && at.y >= bottom && at.y <= top) this.onFloor([at.x, at.y]);
  }

  private ray(event: MouseEvent): THREE.Raycaster {
    const box = this.view.renderer.domElement.getBoundingClientRect();
    const x = (2 * (event.clientX - box.left)) / box.width - 1;
    const y = 1 - (2 * (event.clientY - box.top)) / box.height;
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(x, y), this.view.camera);
    return ray;
  }

  /** What is under the pointer, and where; `movable` and `pushable`: whether balls and arm count. */
  private under(event: PointerEvent, movable = this.movable, pushable = this.pushable): { what: Grip["what"]; point: THREE.Vector3 } | null {
    const { view } = this;
    const ray = this.ray(event);
    if (movable) {
      const force = view.handle.visible ? ray.intersectObject(view.handle)[0] : undefined;
      if (force) return { what: "force", point: view.handle.position.clone() };
      if (ray.intersectObject(view.knob)[0]) return { what: "goal", point: view.goal.position.clone() };
    }
    const hit = pushable ? ray.intersectObject(view.arm, true).find((item) => item.object.userData["body"] !== 0) : undefined;
    return hit ? { what: "arm", point: hit.point.clone() } : null;
  }

  private grab(event: PointerEvent): void {
    if (this.grip || event.button !== 0) return;
    this.pressed = [event.clientX, event.clientY];
    const found = this.under(event);
    const meant = found ?? this.under(event, true, true);
    this.inert = meant ? this.whyInert(meant.what) : "";
    if (!found) return;
    const { view } = this;
    // a planar arm is pulled within its plane, whatever the camera position
    const facing = view.planar ? new THREE.Vector3(0, 0, 1) : view.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(facing, found.point);
    const from = this.ray(event).ray.intersectPlane(plane, new THREE.Vector3()) ?? found.point;
    this.grip = { what: found.what, pointer: event.pointerId, plane, from, at: from.clone(), sent: 0 };
    view.controls.enabled = false;
    view.renderer.domElement.setPointerCapture(event.pointerId);
    window.clearInterval(this.timer);
    if (found.what === "arm") this.timer = window.setInterval(() => this.say(), SEND_EVERY_MS);
    this.began = found.point;
    this.move(event);
    event.stopImmediatePropagation();
  }

  private began = new THREE.Vector3();

  private move(event: PointerEvent): void {
    const grip = this.grip;
    this.warn(event);
    if (!grip) {
      this.view.renderer.domElement.style.cursor = event.buttons === 0 && this.under(event) ? "grab" : "";
      return;
    }
    if (event.pointerId !== grip.pointer) return;
    if (isOutside(event)) return this.release();
    this.ray(event).ray.intersectPlane(grip.plane, grip.at);
    this.badge.textContent = grip.what === "goal" ? "goal" : newtons(grip.what === "arm" ? this.pushed(grip) : this.felt(grip));
    this.badge.style.left = `${event.offsetX}px`;
    this.badge.style.top = `${event.offsetY}px`;
    this.badge.hidden = false;
    if (grip.what === "arm") this.pull.point(grip.from, grip.at.clone().sub(grip.from), 0.004 * this.view.size);
    else if (performance.now() - grip.sent >= SEND_EVERY_MS) this.say();
    this.view.redraw();
  }

  /** Reports once, when a press becomes a drag, that it has no effect. */
  private warn(event: PointerEvent): void {
    const dragged = Math.hypot(event.clientX - this.pressed[0]!, event.clientY - this.pressed[1]!);
    if (!this.inert || event.buttons === 0 || dragged <= STILL_PX) return;
    this.onInert(this.inert);
    this.inert = "";
  }

  private pushed(grip: Grip): Vector {
    return forceFor(grip.at.clone().sub(grip.from).toArray());
  }

  private felt(grip: Grip): Vector {
    const ball = this.began.clone().add(grip.at).sub(grip.from);
    const way = ball.sub(this.view.tool);
    return pulledBy(way.setLength(Math.max(0, way.length() - this.gap)).toArray(), this.view.newtonMetres);
  }

  private say(): void {
    const grip = this.grip;
    if (!grip) return;
    grip.sent = performance.now();
    if (grip.what === "arm") this.onPush(this.pushed(grip));
    else if (grip.what === "force") this.onForce(this.felt(grip));
    else this.onGoal(this.began.clone().add(grip.at).sub(grip.from).toArray());
  }

  /** Ends the drag. A push by hand ends with zero force; a goal and a virtual push stay. */
  release(): void {
    const grip = this.grip;
    if (!grip) return;
    if (grip.what !== "arm") this.say();
    this.drop();
    if (grip.what === "arm") this.onPush([0, 0, 0]);
  }

  /** Ends the drag without a request: its object no longer exists. */
  drop(): void {
    if (!this.grip) return;
    this.grip = null;
    window.clearInterval(this.timer);
    this.view.controls.enabled = true;
    this.badge.hidden = true;
    this.pull.visible = false;
    this.view.redraw();
  }
}

/** Whether a pointer has left the window, where its release may not be reported. */
function isOutside(event: PointerEvent): boolean {
  return event.clientX < 0 || event.clientY < 0 || event.clientX >= window.innerWidth || event.clientY >= window.innerHeight;
}
