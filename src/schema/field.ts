/**
 * A field as it is described: what it may hold, what stands for it where it is left out, and what becomes of it in the code.
 *
 * The schema that checks a value is made when there is a value to check. There are hundreds of fields, a configuration names some
 * twenty, and schemas cost more to make than to ask: a start would make them all.
 */
import { z } from "zod/mini";

/** The message of a schema: what a value must look like, in words. */
export const says = (allowed: string) => ({ error: allowed });

/** What a field is in the code. */
export type Value<F> = F extends Field<infer S> ? z.output<S> : never;

/** What a field is where it is written. */
export type Written<F> = F extends Field<infer S> ? z.input<S> : never;

interface Conversions<S extends z.ZodMiniType> {
  /** The schema that a written value is read by. Left out: the field's. */
  reader?(): z.ZodMiniType<z.output<S>>;
  /** What an allowed value is in the code, for values that need no check: defaults. Left out: itself. */
  convert?(value: z.input<S>): z.output<S>;
  /** What a field that is left out is in the code. Left out: it has to be written. */
  absent?(): z.output<S>;
}

export class Field<S extends z.ZodMiniType = z.ZodMiniType> {
  readonly #make: () => S;
  readonly #conversions: Conversions<S>;
  #schema: S | undefined;
  #reader: z.ZodMiniType<z.output<S>> | undefined;

  constructor(make: () => S, conversions: Conversions<S> = {}) {
    this.#make = make;
    this.#conversions = conversions;
  }

  /** The field with all that is said of it, as the JSON Schema shows it. */
  get schema(): S {
    return this.#schema ??= this.#make();
  }

  /** The schema that a written value is read by: without description and default, each of which makes a schema anew. */
  get reader(): z.ZodMiniType<z.output<S>> {
    return this.#reader ??= this.#conversions.reader?.() ?? this.schema as z.ZodMiniType<z.output<S>>;
  }

  /** Whether something stands for it where it is left out. */
  get mayBeAbsent(): boolean {
    return this.#conversions.absent !== undefined;
  }

  absent(): z.output<S> {
    return this.#conversions.absent!();
  }

  /** What an allowed value is in the code. */
  convert(value: z.input<S>): z.output<S> {
    return this.#conversions.convert === undefined ? value as z.output<S> : this.#conversions.convert(value);
  }

  /** Throws a `ZodError` where a value is not allowed. */
  parse(value: unknown): z.output<S> {
    return this.reader.parse(value);
  }

  describe(text: string): Field<S> {
    return this.#said({ description: text });
  }

  /** A default that other code fills in, as the JSON Schema shows it. */
  meta(shown: { default: unknown }): Field<S> {
    return this.#said(shown);
  }

  #said(words: { description: string } | { default: unknown }): Field<S> {
    const make = () => {
      const schema = z.clone(this.schema);
      z.globalRegistry.add(schema, words);
      return schema;
    };
    return new Field(make, { ...this.#conversions, reader: () => this.reader });
  }

  refine(allows: (value: z.output<S>) => boolean, words: { error: string }): Field<S> {
    return this.#checked(() => z.refine(allows, words));
  }

  superRefine(check: (value: z.output<S>, context: z.core.$RefinementCtx<z.output<S>>) => void): Field<S> {
    return this.#checked(() => z.superRefine(check));
  }

  /** Of a text or a list: the least length. */
  min(
    this: Field<S & z.ZodMiniType<{ length: number }>>,
    length: number,
    words: { error: string },
  ): Field<S> {
    return this.#checked(() => z.minLength(length, words));
  }

  /** Of a text or a list: the largest length. */
  max(
    this: Field<S & z.ZodMiniType<{ length: number }>>,
    length: number,
    words: { error: string },
  ): Field<S> {
    return this.#checked(() => z.maxLength(length, words));
  }

  #checked(check: () => z.core.$ZodCheck<z.output<S>>): Field<S> {
    return new Field(() => this.schema.check(check()), {
      ...this.#conversions,
      reader: () => this.reader.check(check()),
    });
  }

  transform<T>(into: (value: z.output<S>) => T): Field<z.ZodMiniPipe<S, z.ZodMiniTransform<T, z.output<S>>>> {
    const { absent } = this.#conversions;
    const end = () => z.transform(into) as z.ZodMiniTransform<T, z.output<S>>;
    return new Field(() => z.pipe(this.schema, end()), {
      reader: () => z.pipe(this.reader, end()),
      convert: (value) => into(this.convert(value)),
      ...(absent && { absent: () => into(absent()) }),
    });
  }

  nullable(): Field<z.ZodMiniNullable<S>> {
    return new Field(() => z.nullable(this.schema), {
      reader: () => z.nullable(this.reader),
      convert: (value) => value === null ? null : this.convert(value),
    });
  }

  optional(): Field<z.ZodMiniOptional<S>> {
    return new Field(() => z.optional(this.schema), {
      reader: () => this.reader,
      convert: (value) => value === undefined ? undefined : this.convert(value),
      absent: () => undefined,
    });
  }

  /** @param written what stands for the field where it is left out; it has to be allowed */
  prefault(written: z.input<S>): Field<z.ZodMiniPrefault<S>> {
    const convert = (value: z.input<S> | undefined) => this.convert(value === undefined ? written : value);
    return new Field(() => z.prefault(this.schema, written as z.core.util.NoUndefined<z.input<S>>), {
      reader: () => this.reader,
      convert,
      absent: () => convert(undefined),
    });
  }
}
