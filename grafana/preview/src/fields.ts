// A panel's defaults and overrides on the fields of its frames, which in Grafana its core does.
import { DataFrame, Field, FieldColorModeId, FieldType, GrafanaTheme2, ThresholdsMode, fieldMatchers, getDisplayProcessor } from '@grafana/data';
import { fill } from './asked';

// What Grafana's time series panel declares as its fields' defaults.
const timeSeries = {
  drawStyle: 'line', lineInterpolation: 'linear', lineWidth: 1, fillOpacity: 0, gradientMode: 'none', showPoints: 'auto',
  pointSize: 5, spanNulls: false, axisPlacement: 'auto', axisLabel: '', scaleDistribution: { type: 'linear' },
  stacking: { mode: 'none', group: 'A' }, hideFrom: { viz: false, legend: false, tooltip: false },
  thresholdsStyle: { mode: 'off' }, axisColorMode: 'text', axisBorderShow: false, axisCenteredZero: false, barAlignment: 0,
};

export function configure(data: DataFrame[], panel: any, theme: GrafanaTheme2): DataFrame[] {
  data.forEach((frame, frameIndex) =>
    frame.fields.forEach((field, fieldIndex) => {
      field.config = defaults(field, panel);
      override(field, frame, data, panel.fieldConfig?.overrides ?? []);
      const numbers = field.type === FieldType.number ? field.values.filter((x: any) => x !== null && Number.isFinite(x)) : [];
      const min = field.config.min ?? Math.min(...numbers, 0);
      const max = field.config.max ?? Math.max(...numbers, 0);
      if (field.config.displayNameFromDS && panel.type !== 'table') {
        field.config.displayName ??= field.config.displayNameFromDS;
      }
      // Without these two there is no sparkline and no legend.
      const origin = { frameIndex, fieldIndex };
      const displayName = field.state?.displayName ?? undefined;
      field.state = { displayName, seriesIndex: frameIndex, scopedVars: {}, origin, range: { min, max, delta: max - min } } as any;
      field.display = getDisplayProcessor({ field, theme, timeZone: 'utc' });
      const links: any[] = field.config.links ?? [];
      field.getLinks = ({ valueRowIndex }: any) =>
        links.map(({ title, url }) => ({ title, href: url.replace('${__value.raw}', field.values[valueRowIndex]), target: '_blank', origin: field }) as any);
    })
  );
  return data;
}

function defaults(field: Field, panel: any): any {
  if (field.type !== FieldType.number) {
    return { ...field.config, custom: {} };
  }
  const given = panel.fieldConfig?.defaults ?? {};
  const lowest = (step: any) => ({ ...step, value: step.value ?? -Infinity });
  const steps = (given.thresholds?.steps ?? [{ color: 'green', value: null }]).map(lowest);
  return {
    ...given,
    ...field.config,
    thresholds: { mode: given.thresholds?.mode ?? ThresholdsMode.Absolute, steps },
    color: given.color ?? { mode: panel.type === 'timeseries' ? FieldColorModeId.PaletteClassic : FieldColorModeId.Thresholds },
    custom: { ...(panel.type === 'timeseries' ? timeSeries : {}), ...(given.custom ?? {}) },
  };
}

function override(field: Field, frame: DataFrame, data: DataFrame[], overrides: any[]) {
  for (const { matcher, properties } of overrides) {
    if (!fieldMatchers.get(matcher.id).get(matcher.options)(field, frame, data)) {
      continue;
    }
    for (const { id, value } of properties) {
      const path: string[] = id.split('.');
      let config: any = field.config;
      while (path.length > 1) {
        config = config[path.shift()!] ??= {};
      }
      config[path[0]] = typeof value === 'string' ? fill(value) : value;
    }
  }
}
