const LEAST_WIDTH = 3;

/** A table in Markdown, the first column to the left and all others to the right, laid out as the formatter does it. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) =>
    Math.max(LEAST_WIDTH, ...[heading, ...rows.map(row => row[column] ?? '')].map(({ length }) => length)),
  );
  const rule = widths.map((width, column) =>
    column === 0 ? `:${'-'.repeat(width - 1)}` : `${'-'.repeat(width - 1)}:`,
  );
  const aligned = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return [headings, rule, ...rows].map(cells => `| ${cells.map(aligned).join(' | ')} |`).join('\n');
}
