// From Prometheus' answers to Grafana's data frames, as its data source makes them.
import { DataFrame, FieldType, standardTransformers, standardTransformersRegistry, toDataFrame, transformDataFrame } from '@grafana/data';
import { firstValueFrom } from 'rxjs';
import { ask, asked, legend } from './asked';

standardTransformersRegistry.setInit(() =>
  [standardTransformers.mergeTransformer, standardTransformers.organizeFieldsTransformer].map(
    (transformation) => ({ id: transformation.id, name: transformation.name, transformation: async () => transformation, editor: () => null }) as any
  )
);

export async function frames(panel: any): Promise<DataFrame[]> {
  const targets: any[] = panel.targets ?? [];
  const answers = await Promise.all(targets.map((target) => ask(target.expr, !!target.instant && !target.range)));
  if (panel.type === 'table') {
    const several = answers.filter((result) => result.length).length > 1;
    const tables = targets.flatMap((target, at) => (answers[at].length ? [table(target, answers[at], several)] : []));
    return firstValueFrom(transformDataFrame(panel.transformations ?? [], tables));
  }
  return targets.flatMap((target, at) => answers[at].map((series: any) => line(target, series)));
}

// All series of a query in one frame: the time, a field for each label, and the value.
function table(target: any, result: any[], several: boolean): DataFrame {
  const labels = [...new Set(result.flatMap((series) => Object.keys(series.metric)))];
  const name = several ? `Value #${target.refId}` : 'Value';
  return toDataFrame({
    refId: target.refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: result.map((series) => series.value[0] * 1000), config: {} },
      ...labels.map((label) => ({
        name: label,
        type: FieldType.string,
        values: result.map((series) => series.metric[label] ?? ''),
        config: {},
      })),
      { name, type: FieldType.number, values: result.map((series) => +series.value[1]), config: {} },
    ],
  });
}

// A frame for each series; where Prometheus has no value, there is none.
function line(target: any, series: any): DataFrame {
  const points: Array<[number, string]> = series.values ?? [series.value];
  const known = new Map(points.map(([time, value]) => [Math.round(time), +value]));
  const times = series.values ? steps() : [Math.round(points[0][0])];
  const values = times.map((time) => {
    const value = known.get(time);
    return value === undefined || Number.isNaN(value) ? null : value;
  });
  const name = legend(target.legendFormat, series.metric);
  return toDataFrame({
    refId: target.refId,
    name,
    fields: [
      { name: 'Time', type: FieldType.time, values: times.map((time) => time * 1000), config: {} },
      { name: 'Value', type: FieldType.number, values, labels: series.metric, config: { displayNameFromDS: name } },
    ],
  });
}

function steps(): number[] {
  const times = [];
  for (let time = asked.from; time <= asked.to; time += asked.step) {
    times.push(time);
  }
  return times;
}
