import { assertEquals } from "@std/assert";
import { readableMessage } from "../../src/commands/system_error.ts";

/** Messages as Deno forms them on Linux. */
const CASES: [error: Error, text: string][] = [
  [
    new Deno.errors.IsADirectory("Is a directory (os error 21): rename 'out.part' -> 'out'"),
    "Cannot write out: expected a file, got a folder",
  ],
  [
    new Deno.errors.PermissionDenied("Permission denied (os error 13): rename '/a/b' -> '/c/d'"),
    "Cannot rename /a/b: this user has no permission",
  ],
  [
    new Deno.errors.NotFound("No such file or directory (os error 2): open 'no/out.part'"),
    "Cannot open no/out: there is no such folder",
  ],
  [
    new Deno.errors.NotFound("No such file or directory (os error 2): writefile 'no/out'"),
    "Cannot write no/out: there is no such folder",
  ],
  [
    new Deno.errors.NotFound("No such file or directory (os error 2): readfile 'it's'"),
    "Cannot read it's: there is no such file",
  ],
  [
    new Deno.errors.NotADirectory("Not a directory (os error 20): open 'file/x'"),
    "Cannot open file/x: a part of its path is no folder",
  ],
  [new Error("File too large (os error 27): writefile 'x'"), "Cannot write x: file too large"],
  [new Error("No space left on device (os error 28)"), "No space left on device (os error 28)"],
];

for (const [error, text] of CASES) {
  Deno.test(`readableMessage() of "${error.message}"`, () => assertEquals(readableMessage(error), text));
}
