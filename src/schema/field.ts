/**
 * A field of a schema: its allowed values, its default, and its conversion to the value that the program
 * uses.
 *
 * The zod schema is created only when a value has to be validated. There are hundreds of fields, of which a
 * configuration uses some twenty, and creating a schema costs more than applying it.
 */
import { z } from "zod/mini";

/** The error message of a schema: a description of the allowed values. */
export const says = (allowed: string) => ({ error: allowed });

/** The type of a field's value in the program. */
export type Value<F> = F extends Field<infer S> ? z.output<S> : never;

/** The type of a field's value as it is written. */
export type Written<F> = F extends Field<infer S> ? z.input<S> : never;

interface Conversions<S extends z.ZodMiniType> {
  /** Creates the schema that validates a written value. Default: the schema of the field. */
  reader?(): z.ZodMiniType<z.output<S>>;
  /** Converts an allowed value without validating it, for defaults. Default: the value itself. */
  convert?(value: z.input<S>): z.output<S>;
  /** The value in the program if the field is missing. Absent: the field is required. */
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

  /** The complete schema of the field with its description, as the JSON Schema shows it. */
  get schema(): S {
    return this.#schema ??= this.#make();
  }

  /**
   * The schema that validates a written value, without description and default, each of which would create
   * another schema.
   */
  get reader(): z.ZodMiniType<z.output<S>> {
    return this.#reader ??= this.#conversions.reader?.() ?? this.schema as z.ZodMiniType<z.output<S>>;
  }

  /** Whether the field may be missing. */
  get mayBeAbsent(): boolean {
    return this.#conversions.absent !== undefined;
  }

  absent(): z.output<S> {
    return this.#conversions.absent!();
  }

  /** Converts an allowed value to the value in the program. */
  convert(value: z.input<S>): z.output<S> {
    return this.#conversions.convert === undefined ? value as z.output<S> : this.#conversions.convert(value);
  }

  /** Throws a `ZodError` if the value is not allowed. */
  parse(value: unknown): z.output<S> {
    return this.reader.parse(value);
  }

  describe(text: string): Field<S> {
    return this.#withMeta({ description: text });
  }

  /** Shows a default in the JSON Schema that other code applies. */
  meta(shown: { default: unknown }): Field<S> {
    return this.#withMeta(shown);
  }

  #withMeta(words: { description: string } | { default: unknown }): Field<S> {
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

  /** Minimum length of a text or a list. */
  min(
    this: Field<S & z.ZodMiniType<{ length: number }>>,
    length: number,
    words: { error: string },
  ): Field<S> {
    return this.#checked(() => z.minLength(length, words));
  }

  /** Maximum length of a text or a list. */
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

  /** @param written the default as it would be written; it must be an allowed value */
  prefault(written: z.input<S>): Field<z.ZodMiniPrefault<S>> {
    const convert = (value: z.input<S> | undefined) => this.convert(value === undefined ? written : value);
    return new Field(() => z.prefault(this.schema, written as z.core.util.NoUndefined<z.input<S>>), {
      reader: () => this.reader,
      convert,
      absent: () => convert(undefined),
    });
  }
}
