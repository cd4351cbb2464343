// Grafana's heatmap lives in its core, and is not published: these cells are ours, on @grafana/ui's own uPlot builder.
import { DataFrame } from '@grafana/data';
import { UPlotChart, UPlotConfigBuilder } from '@grafana/ui';

const bound = (frame: DataFrame) => {
  const le = frame.fields[1].labels!.le;
  return le === '+Inf' ? Infinity : +le;
};

export function Heatmap({ data, width, height, theme, timeRange }: any) {
  const rows: DataFrame[] = [...data].sort((a, b) => bound(a) - bound(b));
  const times = rows[0].fields[0].values as number[];
  const value = (row: number, at: number) => (row < 0 ? 0 : (rows[row].fields[1].values[at] ?? 0));
  const cells = rows.map((_, row) => times.map((_, at) => Math.max(0, value(row, at) - value(row - 1, at))));
  const most = Math.max(1, ...cells.flat());
  const config = new UPlotConfigBuilder('utc');
  const upright = { orientation: 1, direction: 1 };
  const shown = [timeRange.from.valueOf(), timeRange.to.valueOf()];
  config.addScale({ scaleKey: 'x', isTime: true, orientation: 0, direction: 1, range: () => shown } as any);
  config.addScale({ scaleKey: 'y', ...upright, range: () => [0, rows.length] } as any);
  config.addAxis({ scaleKey: 'x', isTime: true, placement: 'bottom', theme, timeZone: 'utc' } as any);
  const name = (at: number) => rows[Math.floor(at)]?.fields[1].labels?.le ?? '';
  const splits = rows.map((_, at) => at + 0.5);
  config.addAxis({ scaleKey: 'y', placement: 'left', theme, size: 60, splits, formatValue: name } as any);
  config.addSeries({ scaleKey: 'y', theme, pathBuilder: () => null, show: true } as any);
  config.addHook('draw', (plot: any) => {
    const cell = Math.abs(plot.valToPos(times[1], 'x', true) - plot.valToPos(times[0], 'x', true));
    const light = (share: number) => (theme.isDark ? 18 + 45 * share : 92 - 45 * share);
    cells.forEach((row, y) =>
      row.forEach((count, at) => {
        const left = plot.valToPos(times[at], 'x', true) - cell;
        if (!count || left < plot.bbox.left) {
          return;
        }
        const top = plot.valToPos(y + 1, 'y', true);
        const share = Math.sqrt(count / most); // as the panel's exponent 0.5
        plot.ctx.fillStyle = `hsl(${30 + 15 * share} 95% ${light(share)}%)`;
        plot.ctx.fillRect(left, top, Math.ceil(cell), Math.ceil(plot.valToPos(y, 'y', true) - top) - 1);
      })
    );
  });
  const plotted = [times, times.map(() => 0)] as any;
  return <UPlotChart width={width} height={height} config={config} data={plotted} timeRange={timeRange} />;
}
