import { shown } from './markdown';
import { barChart, lineCharts } from './svg';

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
