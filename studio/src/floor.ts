// The floor of a mission: its map, the planned path, the target base pose, and the driven path.

import * as THREE from "three";

import { empty } from "./dispose";
import { blocksOf, outlineOf, piecesOf, ribbonOf, ringOf } from "./ground";
import type { MapWords, MissionWords, MissionLog } from "./wire";

// How high a blocked cell is drawn [m]: a map has no heights.
const HIGH = 0.22;
const WAY = { ahead: 0x4c9be8, back: 0xb37feb, driven: 0xff9f1c, stand: 0x2fbf71 };
const LIGHT = { free: 0xf4f7fa, unknown: 0xc3ccd6, blocked: 0x8b98a7 };
const DARK = { free: 0x262f3a, unknown: 0x181d24, blocked: 0x6b7887 };
// Spacing of the points of a trail [m], and their largest number.
const STEP = 0.02;
const MOST = 6000;

export class Floor extends THREE.Group {
  private readonly ground = new THREE.Group();
  private readonly plan = new THREE.Group();
  private readonly trail = new THREE.Mesh(new THREE.BufferGeometry(), colour(WAY.driven));
  private points: number[][] = [];
  private words: MissionWords | null = null;
  private built = 0;
  private light = false;

  /** Called when a picture has been loaded. */
  constructor(private readonly changed: () => void) {
    super();
    this.add(this.ground, this.plan, this.trail);
  }

  /** The extent of the map, if there is one: left, right, bottom, top [m]. */
  get extent(): [number, number, number, number] | null {
    return this.words?.map.extent ?? null;
  }

  /** Shows another map, or none. */
  build(words: MissionWords | null, light: boolean): void {
    this.words = words;
    this.visible = words !== null;
    this.follow([]);
    empty(this.plan);
    this.theme(light);
  }

  theme(light: boolean): void {
    this.light = light;
    empty(this.ground);
    if (this.words) void this.lay(this.words.map, ++this.built);
  }

  private async lay(map: MapWords, number: number): Promise<void> {
    const picture = new Image();
    picture.src = map.picture;
    await picture.decode();
    if (number !== this.built) return;
    const tints = this.light ? LIGHT : DARK;
    const canvas = document.createElement("canvas");
    const { width, height } = Object.assign(canvas, { width: picture.width, height: picture.height });
    const pen = canvas.getContext("2d", { willReadFrequently: true })!;
    pen.drawImage(picture, 0, 0);
    const cells = pen.getImageData(0, 0, width, height);
    const grey = Uint8Array.from({ length: width * height }, (_, i) => cells.data[4 * i]!);
    grey.forEach((value, i) => {
      const tint = value > 200 ? tints.free : value > 60 ? tints.unknown : tints.blocked;
      cells.data.set([tint >> 16, (tint >> 8) & 255, tint & 255], 4 * i);
    });
    pen.putImageData(cells, 0, 0);
    this.place(canvas, map, blocksOf((i) => grey[i]! <= 60, width, height), tints.blocked);
    this.changed();
  }

  private place(canvas: HTMLCanvasElement, map: MapWords, blocks: ReturnType<typeof blocksOf>, tint: number): void {
    const [left, right, bottom, top] = map.extent;
    const texture = new THREE.CanvasTexture(canvas);
    texture.colorSpace = THREE.SRGBColorSpace;
    texture.magFilter = THREE.NearestFilter;
    const plate = new THREE.Mesh(new THREE.PlaneGeometry(right - left, top - bottom), new THREE.MeshLambertMaterial({ map: texture }));
    plate.position.set((left + right) / 2, (bottom + top) / 2, -0.004);
    plate.receiveShadow = true;
    const cell = (right - left) / canvas.width;
    const boxes = new THREE.InstancedMesh(new THREE.BoxGeometry(1, 1, HIGH), new THREE.MeshLambertMaterial({ color: tint }), blocks.length);
    blocks.forEach((block, i) => {
      const at = new THREE.Vector3(left + (block.x + block.width / 2) * cell, top - (block.y + block.height / 2) * cell, HIGH / 2);
      const size = new THREE.Vector3(block.width * cell, block.height * cell, 1);
      boxes.setMatrixAt(i, new THREE.Matrix4().compose(at, new THREE.Quaternion(), size));
    });
    boxes.castShadow = boxes.receiveShadow = true;
    this.ground.add(plate, boxes);
  }

  /** Draws the planned path and the base pose at its end. */
  show(missionLog: MissionLog): void {
    empty(this.plan);
    for (const [direction, points] of piecesOf(missionLog.path)) {
      this.plan.add(new THREE.Mesh(strip(points, 0.07, 0.004), colour(direction > 0 ? WAY.ahead : WAY.back)));
    }
    // below the goal, above any obstacle
    this.plan.add(new THREE.Mesh(strip(ringOf(missionLog.goal[0]!, missionLog.goal[1]!, 0.12), 0.03, HIGH + 0.01), colour(WAY.driven)));
    if (!missionLog.stand || !this.words) return;
    for (const [from, to] of pairs(outlineOf(this.words.footprint, missionLog.stand))) {
      this.plan.add(new THREE.Mesh(strip([from, to], 0.025, 0.006), colour(WAY.stand)));
    }
  }

  /** Adds the current position of the base. */
  drive(x: number, y: number): void {
    const last = this.points[this.points.length - 1];
    if (last && Math.hypot(x - last[0]!, y - last[1]!) < STEP) return;
    this.follow([...this.points.slice(1 - MOST), [x, y]]);
  }

  /** The whole driven path. */
  follow(points: number[][]): void {
    this.points = points;
    this.trail.geometry.dispose();
    this.trail.geometry = strip(points, 0.035, 0.008);
  }
}

function strip(points: number[][], width: number, z: number): THREE.BufferGeometry {
  const { positions, index } = ribbonOf(points, width, z);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
  geometry.setIndex(index);
  return geometry;
}

function colour(tint: number): THREE.MeshBasicMaterial {
  return new THREE.MeshBasicMaterial({ color: tint, side: THREE.DoubleSide, transparent: true, opacity: 0.85 });
}

function pairs<T>(items: T[]): [T, T][] {
  return items.slice(1).map((item, i) => [items[i]!, item]);
}
