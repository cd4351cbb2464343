// A host for Grafana's own panel components: reads a dashboard, asks a real Prometheus, and draws each panel where it
// stands. What Grafana's core does between them (variables, frames, field defaults, marks) is done here, small. When all
// is drawn, it reports what each panel has, so that an empty one is an error and not a picture.
import { LoadingState, createTheme, dateTime } from '@grafana/data';
import { initPluginTranslations } from '@grafana/i18n';
import { GlobalStyles, PanelChrome, ThemeContext } from '@grafana/ui';
import { Component, ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { ask, asked, fill } from './asked';
import { Body, Mark } from './body';
import { configure } from './fields';
import { frames } from './frames';

const ROW = 38; // pixels of a row of the grid, with its gap
const GAP = 8;
const SETTLED = 2500; // milliseconds until everything is drawn

const report: any[] = [];
window.addEventListener('error', (event) => report.push({ title: '', error: `script: ${event.message}` }));

class Guard extends Component<{ title: string; children: ReactNode }, { error?: unknown }> {
  state: { error?: unknown } = {};
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  componentDidCatch(error: unknown) {
    report.push({ title: this.props.title, error: `drawing: ${error}` });
  }
  render() {
    return this.state.error ? <div className="empty">{String(this.state.error)}</div> : this.props.children;
  }
}

async function load(panel: any, theme: any) {
  const title = fill(panel.title);
  try {
    const data = configure(await frames(panel), panel, theme);
    const numbers = data.flatMap((frame) => frame.fields.filter((field) => field.type === 'number'));
    const values = numbers.flatMap((field) => field.values.filter((x: any) => x !== null && Number.isFinite(x)));
    report.push({ title, type: panel.type, series: data.length, values: values.length });
    return { panel, title, data };
  } catch (error) {
    report.push({ title, error: String(error) });
    return { panel, title, data: [], error: String(error) };
  }
}

async function loadMark(mark: any, theme: any): Promise<Mark> {
  const every = parseFloat(mark.target.interval); // seconds: what is shorter than a step of the picture is marked all the same
  const series = await ask(mark.target.expr, false, every);
  const times = series.map(({ values }) => values[0][0] * 1000).filter((time) => time > (asked.from + every) * 1000);
  return { color: theme.visualization.getColorByName(mark.iconColor), times: [...new Set(times)] };
}

async function main() {
  await initPluginTranslations('turnsignal').catch(() => undefined);
  const theme = createTheme({ colors: { mode: asked.mode } });
  const board = await (await fetch(asked.dashboard)).json();
  const [from, to] = [dateTime(asked.from * 1000), dateTime(asked.to * 1000)];
  const timeRange = { from, to, raw: { from, to } };
  const marks = await Promise.all(board.annotations.list.map((mark: any) => loadMark(mark, theme)));
  const drawn = await Promise.all(board.panels.map((panel: any) => load(panel, theme)));
  const cell = window.innerWidth / 24;
  const bottom = Math.max(...board.panels.map(({ gridPos }: any) => gridPos.y + gridPos.h));
  document.body.style.color = theme.colors.text.primary;
  document.body.style.background = theme.colors.background.canvas;
  const root = createRoot(document.getElementById('root')!);
  const draw = () => root.render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <h1 style={{ font: '500 16px Inter, Helvetica, sans-serif', margin: 10 }}>{board.title}</h1>
      <div style={{ position: 'relative', height: bottom * ROW }}>
        {drawn.map(({ panel, title, data, error }: any) => {
          const { x, y, w, h } = panel.gridPos;
          const [width, height] = [w * cell - GAP, h * ROW - GAP];
          return (
            <div key={panel.id} style={{ position: 'absolute', left: x * cell + GAP / 2, top: y * ROW, width, height }}>
              <PanelChrome title={title} description={panel.description} width={width} height={height} loadingState={LoadingState.Done}>
                {(inner: number, tall: number) => (
                  <Guard title={title}>
                    {error ? <div className="empty">{error}</div> : <Body {...{ panel, data, theme, timeRange, marks }} width={inner} height={tall} />}
                  </Guard>
                )}
              </PanelChrome>
            </div>
          );
        })}
      </div>
    </ThemeContext.Provider>
  );
  draw();
  setTimeout(draw, SETTLED / 2); // a legend is laid out when it is drawn again, which in Grafana happens all the time
  setTimeout(() => fetch('/report', { method: 'POST', body: JSON.stringify(report) }), SETTLED);
}

main().catch((error) => {
  document.body.append(String(error.stack ?? error));
  fetch('/report', { method: 'POST', body: JSON.stringify([{ title: '', error: String(error) }]) });
});
