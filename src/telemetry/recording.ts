/** What all calls share that are followed. */
import { type Attributes, trace, type Tracer } from "@opentelemetry/api";
import type { Door, Route } from "../providers/provider.ts";
import type { TelemetryConfig } from "./config.ts";
import { Instruments } from "./instruments.ts";

export interface RecordingOptions extends TelemetryConfig {
  /** Of the program. */
  version: string;
  /** In [0, 1). */
  random(): number;
}

/** Of the process: it stays over a reload. */
let instruments: Instruments | undefined;

export class Recording {
  readonly tracer: Tracer;
  readonly instruments: Instruments;
  readonly sample: number;
  readonly langfuse: boolean;
  readonly random: () => number;
  readonly #made = new WeakMap<Door, Map<string, Attributes>>();

  constructor({ version, sample, langfuse, random }: RecordingOptions) {
    this.tracer = trace.getTracer("sluice", version);
    this.instruments = instruments ??= new Instruments(version);
    this.sample = sample;
    this.langfuse = langfuse;
    this.random = random;
  }

  /** Attributes that are the same for every call of a route. */
  onceFor(door: Door, { model }: Route, make: () => Attributes): Attributes {
    let ofDoor = this.#made.get(door);
    if (ofDoor === undefined) this.#made.set(door, ofDoor = new Map());
    let made = ofDoor.get(model);
    if (made === undefined) ofDoor.set(model, made = make());
    return made;
  }
}
