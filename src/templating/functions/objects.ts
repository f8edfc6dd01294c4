/**
 * Types of the values that functions make and that have methods. Unlike other host objects they may be kept in variables;
 * where they are shown, their String method writes them.
 */
import type { HostTypeDeclaration } from "../check/declarations.ts";

export const valueTypes: Readonly<Record<string, HostTypeDeclaration>> = {
  Time: {
    value: true,
    methods: {
      Add: "func(d Duration) Time",
      AddDate: "func(years int, months int, days int) Time",
      After: "func(other Time) bool",
      Before: "func(other Time) bool",
      Day: "func() int",
      Equal: "func(other Time) bool",
      Format: "func(layout string) string",
      Hour: "func() int",
      IsZero: "func() bool",
      Minute: "func() int",
      Month: "func() string",
      Nanosecond: "func() int",
      Round: "func(d Duration) Time",
      Second: "func() int",
      String: "func() string",
      Sub: "func(other Time) Duration",
      Truncate: "func(d Duration) Time",
      UTC: "func() Time",
      Unix: "func() int",
      UnixNano: "func() int",
      Weekday: "func() string",
      Year: "func() int",
      YearDay: "func() int",
    },
  },
  Duration: {
    value: true,
    methods: {
      Hours: "func() float64",
      Microseconds: "func() int",
      Milliseconds: "func() int",
      Minutes: "func() float64",
      Nanoseconds: "func() int",
      Round: "func(unit Duration) Duration",
      Seconds: "func() float64",
      String: "func() string",
      Truncate: "func(unit Duration) Duration",
    },
  },
  Regexp: {
    value: true,
    methods: {
      Find: "func(text string) string",
      FindAll: "func(text string, n int) []string",
      FindAllSubmatch: "func(text string, n int) [][]string",
      FindSubmatch: "func(text string) []string",
      Match: "func(text string) bool",
      ReplaceAll: "func(text string, replacement string) string",
      ReplaceAllFunc: "func(text string, f func(string) string) string",
      Split: "func(text string, n int) []string",
      String: "func() string",
    },
  },
};

/** Signatures of the methods of each type, as an author reads them: `Format(layout string) string`. */
export const valueMethods: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(valueTypes).map(([type, { methods }]) => [
    type,
    Object.entries(methods ?? {}).map(([name, given]) =>
      (typeof given === "string" ? given : given.signature).replace(/^func/, name),
    ),
  ]),
);
