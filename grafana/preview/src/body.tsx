// What is inside of a panel: Grafana's own components for stat, bar gauge, time series and table.
import { DataFrame, VizOrientation, getDisplayValueAlignmentFactors, getFieldDisplayValues } from '@grafana/data';
import { BarGauge, BigValue, TimeSeries, UPlotConfigBuilder, VizRepeater } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import { Heatmap } from './heatmap';

export interface Mark {
  color: string;
  times: number[];
}

export function Body(props: any) {
  const { panel, data } = props;
  if (!data.length || data.every((frame: DataFrame) => frame.length === 0)) {
    return <div className="empty">{panel.fieldConfig?.defaults?.noValue ?? 'No data'}</div>;
  }
  switch (panel.type) {
    case 'timeseries':
      return <Lines {...props} />;
    case 'stat':
      return <Stat {...props} />;
    case 'bargauge':
      return <Bars {...props} />;
    case 'table':
      return <Table {...props} />;
    case 'heatmap':
      return <Heatmap {...props} />;
    default:
      return <div className="empty">{panel.type}: no component</div>;
  }
}

function Lines({ panel, data, width, height, timeRange, marks }: any) {
  const draw = (config: UPlotConfigBuilder) => {
    config.addHook('draw', (plot: any) => marks.forEach((mark: Mark) => strike(plot, mark)));
    return null;
  };
  return (
    <TimeSeries frames={data} timeRange={timeRange} timeZone="utc" width={width} height={height}
      legend={panel.options.legend} options={{ tooltip: panel.options.tooltip } as any}>
      {draw as any}
    </TimeSeries>
  );
}

// Marks are drawn by Grafana's core: a dashed line where each begins is ours.
function strike(plot: any, { color, times }: Mark) {
  plot.ctx.save();
  plot.ctx.strokeStyle = color;
  plot.ctx.setLineDash([4, 4]);
  for (const time of times) {
    const x = plot.valToPos(time, 'x', true);
    plot.ctx.beginPath();
    plot.ctx.moveTo(x, plot.bbox.top);
    plot.ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
    plot.ctx.stroke();
  }
  plot.ctx.restore();
}

function Repeated({ panel, data, width, height, theme, orientation, sparkline, draw }: any) {
  const values = () =>
    getFieldDisplayValues({
      data, theme, sparkline, timeZone: 'utc', replaceVariables: (text: string) => text,
      fieldConfig: panel.fieldConfig, reduceOptions: panel.options.reduceOptions,
    } as any);
  return (
    <VizRepeater source={data} getValues={values} renderValue={draw} width={width} height={height} orientation={orientation}
      renderCounter={0} itemSpacing={3} minVizHeight={16} getAlignmentFactors={(all: any[]) => getDisplayValueAlignmentFactors(all)} />
  );
}

function Stat(props: any) {
  const { options } = props.panel;
  const draw = ({ value, width, height, count, alignmentFactors }: any) => (
    <BigValue value={value.display} sparkline={value.sparkline} theme={props.theme} width={width} height={height} count={count}
      colorMode={options.colorMode} graphMode={options.graphMode} textMode={options.textMode} justifyMode={options.justifyMode}
      alignmentFactors={alignmentFactors} />
  );
  const sparkline = options.graphMode !== 'none';
  return <Repeated {...props} sparkline={sparkline} orientation={options.orientation || VizOrientation.Auto} draw={draw} />;
}

function Bars(props: any) {
  const { options } = props.panel;
  const draw = ({ value, width, height, alignmentFactors }: any) => (
    <BarGauge value={value.display} field={value.field} display={value.view?.getFieldDisplayProcessor(value.colIndex)}
      theme={props.theme} width={width} height={height} orientation={VizOrientation.Horizontal} displayMode={options.displayMode}
      valueDisplayMode={options.valueMode} namePlacement={options.namePlacement} showUnfilled={options.showUnfilled}
      itemSpacing={8} lcdCellWidth={8} alignmentFactors={alignmentFactors} />
  );
  return <Repeated {...props} sparkline={false} orientation={VizOrientation.Horizontal} draw={draw} />;
}

function Table({ panel, data, width, height }: any) {
  const more: any = { getActions: () => [], fieldConfig: panel.fieldConfig };
  return (
    <TableNG data={data[0]} width={width} height={height} structureRev={1} sortBy={panel.options.sortBy}
      cellHeight={panel.options.cellHeight} {...more} />
  );
}
