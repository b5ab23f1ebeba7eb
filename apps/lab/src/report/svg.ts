/** A line of a panel; null where there is no value. */
export interface Series {
  readonly name: string;
  readonly colour: string;
  readonly dashed?: boolean;
  readonly points: readonly { readonly x: number; readonly y: number | null }[];
}

export interface Panel {
  readonly title: string;
  readonly series: readonly Series[];
}

export interface Axes {
  readonly x: string;
  readonly y: string;
  /** Of all panels, so that they can be compared; absent: the largest value. */
  readonly most?: number;
}

const WIDTH = 380;
const HEIGHT = 220;
const COLUMNS = 2;
const MARGIN = { left: 52, right: 12, top: 30, bottom: 36 };
const HEAD = 62;
const TICKS = 4;
const FONT = 'font-family="system-ui, sans-serif"';

/** Panels of lines over the same axes, with one legend. */
export function lineCharts(title: string, panels: readonly Panel[], axes: Axes): string {
  const rows = Math.ceil(panels.length / COLUMNS);
  const [width, height] = [COLUMNS * WIDTH, HEAD + rows * HEIGHT];
  const all = panels.flatMap(({ series }) => series.flatMap(({ points }) => points));
  const bounds = {
    x: Math.max(1e-9, ...all.map(({ x }) => x)),
    y: niceTop(axes.most ?? Math.max(1e-9, ...all.map(({ y }) => y ?? 0))),
  };
  const drawn = panels.map((panel, index) => {
    const [left, top] = [(index % COLUMNS) * WIDTH, HEAD + Math.floor(index / COLUMNS) * HEIGHT];
    return `<g transform="translate(${left} ${top})">${drawPanel(panel, axes, bounds)}</g>`;
  });
  return document(width, height, title, legend(panels.flatMap(({ series }) => series)) + drawn.join('\n'));
}

export interface BarGroup {
  readonly name: string;
  readonly bars: readonly { readonly share: number | null; readonly name: string; readonly colour: string }[];
}

const BAR = 16;
const NAMES = 270;
const BARS = 420;

/** Shares as bars, a group for each thing that is compared. */
export function barChart(title: string, groups: readonly BarGroup[]): string {
  let top = HEAD;
  const drawn = groups.map(({ name, bars }) => {
    const at = top;
    top += bars.length * BAR + 14;
    const label = text(NAMES - 10, at + (bars.length * BAR) / 2 + 4, name, 'end');
    return label + bars.map((bar, index) => drawBar(bar, at + index * BAR)).join('');
  });
  const body = legend(groups.flatMap(({ bars }) => bars)) + drawn.join('\n');
  return document(NAMES + BARS + 70, top + 6, title, body);
}

function drawBar({ share, colour }: BarGroup['bars'][number], top: number): string {
  const width = (share ?? 0) * BARS;
  const rest = `<rect x="${NAMES}" y="${top}" width="${BARS}" height="${BAR - 3}" fill="#eef0f2"/>`;
  const bar = `<rect x="${NAMES}" y="${top}" width="${round(width)}" height="${BAR - 3}" fill="${colour}"/>`;
  const figure = share === null ? '–' : `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;
  return rest + bar + text(NAMES + BARS + 8, top + 11, figure, 'start');
}

function drawPanel({ title, series }: Panel, axes: Axes, bounds: { x: number; y: number }): string {
  const inner = { width: WIDTH - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const x = (value: number): number => MARGIN.left + (value / bounds.x) * inner.width;
  const y = (value: number): number => MARGIN.top + inner.height * (1 - Math.min(1, value / bounds.y));
  const ticks = Array.from({ length: TICKS + 1 }, (_, index) => index / TICKS);
  const grid = ticks.map(part => {
    const height = y(part * bounds.y);
    const line = `<path d="M${MARGIN.left} ${round(height)}H${WIDTH - MARGIN.right}" stroke="#dde1e5"/>`;
    const across = text(x(part * bounds.x), HEIGHT - MARGIN.bottom + 14, short(part * bounds.x), 'middle');
    return line + text(MARGIN.left - 6, height + 4, short(part * bounds.y), 'end') + across;
  });
  const lines = series.map(one => drawLine(one, x, y));
  const named = [
    `<text x="${MARGIN.left}" y="18" font-size="12" font-weight="600" ${FONT}>${escaped(title)}</text>`,
    text(WIDTH - MARGIN.right, HEIGHT - 6, axes.x, 'end'),
    text(MARGIN.left + 4, MARGIN.top + 10, axes.y, 'start'),
  ];
  return [...grid, ...lines, ...named].join('');
}

function drawLine({ points, colour, dashed }: Series, x: (value: number) => number, y: (value: number) => number) {
  let path = '';
  let isDown = false;
  for (const point of points) {
    if (point.y !== null) path += `${isDown ? 'L' : 'M'}${round(x(point.x))} ${round(y(point.y))}`;
    isDown = point.y !== null;
  }
  const dashes = dashed === true ? ' stroke-dasharray="4 3"' : '';
  return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.6"${dashes}/>`;
}

function legend(series: readonly { readonly name: string; readonly colour: string; readonly dashed?: boolean }[]) {
  const names = new Map(series.map(one => [one.name, one]));
  let left = 14;
  return [...names.values()]
    .map(({ name, colour, dashed }) => {
      const at = left;
      left += 34 + name.length * 6.2;
      const dashes = dashed === true ? ' stroke-dasharray="4 3"' : '';
      const stroke = `<path d="M${round(at)} 46h16" stroke="${colour}" stroke-width="3"${dashes}/>`;
      return stroke + text(at + 21, 50, name, 'start');
    })
    .join('');
}

function document(width: number, height: number, title: string, body: string): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title><rect width="100%" height="100%" fill="#ffffff"/>`,
    `<text x="14" y="24" font-size="15" font-weight="600" ${FONT}>${escaped(title)}</text>`,
    body,
    '</svg>\n',
  ].join('\n');
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${round(x)}" y="${round(y)}" font-size="11" fill="#3c4650" text-anchor="${anchor}" ${FONT}>${escaped(content)}</text>`;
}

/** The next of 1, 2, 2.5, 5 times a power of ten. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find(step => step * power >= value - 1e-9) ?? 10) * power;
}

function short(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
