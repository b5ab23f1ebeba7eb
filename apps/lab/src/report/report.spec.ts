import { shown } from './markdown';
import { withSection } from './publish';
import { barChart, lineCharts } from './svg';
import { table } from './table';

describe('figures as text', () => {
  it('has a unit and no more digits than it needs', () => {
    expect(shown(0.62, 'share')).toBe('62.0 %');
    expect(shown(0.9995, 'share')).toBe('99.95 %');
    expect(shown(1540, 'ms')).toBe('1.54 s');
    expect(shown(38.4, 'ms')).toBe('38 ms');
    expect(shown(12_345, 'number')).toBe('12 345');
    expect(shown(null, 'share')).toBe('–');
  });
});

describe('tables', () => {
  it('are laid out as the formatter of the documentation leaves them', () => {
    expect(
      table(
        ['', 'Spillway', 'b'],
        [
          ['– “fast” ≥ 1', '**missed**', '1'],
          ['x', '–', '99.9 %'],
        ],
      ),
    ).toBe(
      [
        '|              |   Spillway |      b |',
        '| :----------- | ---------: | -----: |',
        '| – “fast” ≥ 1 | **missed** |      1 |',
        '| x            |          – | 99.9 % |',
      ].join('\n'),
    );
  });
});

describe('a section of the README', () => {
  const page = 'a\n<!-- lab x: begin -->\nold\n<!-- lab x: end -->\nb\n';

  it('takes the place of the last one', () => {
    const once = withSection(page, 'x', 'new') ?? '';
    expect(once).toBe('a\n<!-- lab x: begin -->\n\nnew\n\n<!-- lab x: end -->\nb\n');
    expect(withSection(once, 'x', 'new')).toBe(once);
  });

  it('is not written where there is no place for it', () => {
    expect(withSection(page, 'y', 'new')).toBeNull();
  });
});

describe('pictures', () => {
  const points = [
    { x: 0, y: 1 },
    { x: 1, y: null },
    { x: 2, y: 3 },
    { x: 3, y: 2 },
  ];

  it('break a line where there is no value', () => {
    const svg = lineCharts('a & b', [{ title: '<arm>', series: [{ name: 's', colour: '#000', points }] }], {
      x: 'minute',
      y: 'calls',
    });
    expect(svg).toContain('a &amp; b');
    expect(svg).toContain('&lt;arm&gt;');
    const path = /<path d="(M[^"]*)" fill="none"/.exec(svg)?.[1] ?? '';
    expect(path.match(/M/g)).toHaveLength(2);
    expect(path.match(/L/g)).toHaveLength(1);
  });

  it('draws shares and says where there is none', () => {
    const svg = barChart('t', [
      {
        name: 'arm',
        bars: [
          { name: 'c', colour: '#111', share: 0.999 },
          { name: 'n', colour: '#222', share: null },
        ],
      },
    ]);
    expect(svg).toContain('99.9 %');
    expect(svg).toContain('–');
  });
});
