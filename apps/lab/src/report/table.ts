const LEAST_WIDTH = 3;

/** A table in Markdown, the first column to the left and all others to the right, laid out as the formatter does it. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) =>
    Math.max(LEAST_WIDTH, ...[heading, ...rows.map(row => row[column] ?? '')].map(text => [...text].length)),
  );
  const rule = widths.map((width, column) =>
    column === 0 ? `:${'-'.repeat(width - 1)}` : `${'-'.repeat(width - 1)}:`,
  );
  return [headings, rule, ...rows].map(cells => `| ${cells.map(aligned(widths)).join(' | ')} |`).join('\n');
}

function aligned(widths: readonly number[]) {
  return (cell: string, column: number): string => {
    const space = ' '.repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length));
    return column === 0 ? cell + space : space + cell;
  };
}
