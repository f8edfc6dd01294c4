/** What to do about a problem, for those problems whose place does not know it better. */

const HINTS: readonly (readonly [message: RegExp, hint: string])[] = [
  // Texts and tags.
  [/expecting (\}\}|%\}|%%\}|#\})$/, "close the tag on this line"],
  [/^syntax error: comment not terminated/, "close the comment with #}; comments nest"],
  [/^syntax error: .*not terminated/, "close it with the same quote; a text over several lines stands in `…`"],
  [/has no \{% end %\}/, "close it with {% end %}"],
  [/^syntax error: unexpected end\b/, "remove it, or look for the block that was closed too early"],
  [/^syntax error: unexpected (else|case|default)/, "it belongs directly into an if, for or switch"],
  [
    /^syntax error: unexpected \w+, expecting \w+ or end of tag/,
    "end the innermost block first, or write {% end %} alone",
  ],
  [/^syntax error: missing condition/, "write a condition: {% if x > 1 %}"],
  [/^syntax error: unexpected #\}/, "write {{ `#}` }} for this text"],
  [/^syntax error: cannot use .* as a condition/, "compare with =="],
  [/^syntax error: missing type or value/, "write var x = 1, or var x int"],
  [/^syntax error: unknown escape/, "write \\\\ for a backslash, or put the text into `…`"],
  [/^syntax error: a rune literal/, 'text stands in double quotes: "…"'],
  [/^syntax error: unexpected text in/, "such a file holds imports and declarations only"],
  [/^syntax error/, "the page “The template language” has the grammar"],
  // Names.
  [/^undefined: /, "declare it with var before this place, or check its name"],
  [/redeclared in this block/, "assign with =, or choose another name"],
  [/has no (member|field|method) /, "check its name"],
  [/^no incremental snippet/, "check the group's name"],
  [/ does not exist$/, "check the name; snippets are the keys of templateSnippets"],
  [/ cycle: /, "a template cannot use itself; use a macro for recursion"],
  // Statements.
  [/is not in a loop/, "it ends or continues the loop around it; inside a function use return"],
  [/label not defined/, "put the label before the loop: {% NAME: for … %}"],
  [/evaluated but not used/, "show it with {{ }} or assign it"],
  [/^multiple defaults|^duplicate (case|key)/, "remove one of them"],
  [/^cannot assign to (a member|an element) of resources\./, "watched objects stay as they are; copy with merge()"],
  [/^cannot assign to /, "declare a variable with var and assign to that"],
  [/^assignment mismatch/, "give as many names as values"],
  [/^wrong number of values in return/, "return as many values as the function declares"],
  [/^missing return/, "end the function with return"],
  // Calls and types.
  [/^(not enough|too many) arguments/, "the functions page shows what each function takes"],
  [/^cannot use .* in argument/, "convert it: toint(), tofloat(), tostring(), toSlice()"],
  [/^cannot use /, "convert the value, or declare the variable as any"],
  [/^cannot call a value/, "only macros, functions and values of them can be called"],
  [/mismatched types/, "convert one of them: toint(), tofloat(), tostring()"],
  [/operator .* not defined on/, "check the operands' types"],
  [/division by zero|divide by zero/, "test the divisor first"],
  [/can only be compared to nil/, "compare len(…) or members, or toJSON() of both"],
  [/cannot compare/, "convert one side, or leave the comparison out"],
  [/^cannot show value of type nil/, "show a value, or leave the tag out"],
  [/^cannot show value/, "show its members, or toJSON() of it"],
  [/^cannot range over/, "range over a slice, a map, a string, or seq(n)"],
  [/^cannot (select|read a member)/, "only maps and objects have members"],
  [/does not support indexing|^cannot slice/, "only slices, maps and strings can be indexed"],
  [/^(invalid index|invalid slice index|index out of range|slice bounds)/, "compare with len(…) first"],
  [/has no length$/, "len takes strings, slices and maps"],
  [/^first argument to append/, "start with a slice: []any{}"],
  [/is not a map$/, "give a map"],
  [/^constant .* (overflows|truncated)/, "use another type, or int(…) of a value"],
  [/^(cannot convert|interface conversion|invalid type assertion)/, "ask first: v, ok := x.(T)"],
  [/use of untyped nil|used as value, but it gives none/, "give a value"],
  [/cannot (indirect|take address)/, "pointers point to variables, fields and elements"],
  [/is not supported|are not supported/, "see “Not supported” on the page “The template language”"],
  [/nil function/, "check it: {% if f != nil %}"],
  [/^comparing uncomparable/, "compare members, or toJSON() of both"],
  [/^cannot order/, "convert both with toint() or tostring()"],
  [/nested more than|nested too deep/, "look for a macro that calls itself without end"],
  [/too much work|too much text|more than \d+ MiB|too many$/, "look for a loop without end, or work on fewer items"],
  [/^duplicate argument|redeclared/, "choose another name"],
];

/** One sentence on what to do; undefined where only the author of the message can know. */
export function hintFor(message: string): string | undefined {
  for (const [pattern, hint] of HINTS) if (pattern.test(message)) return hint;
  return undefined;
}
