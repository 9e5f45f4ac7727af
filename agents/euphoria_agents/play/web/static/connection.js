// The connection of a page to its game: requests, one of each kind at a time, and the stream of views.

import { LOST, endMessage, get, post, showError, showMessage } from "./common.js";

const GONE_ON = "The game has gone on meanwhile: this was decided in another tab, or by somebody else.";
const CHANGED = "the game has changed since version {seen}; this is version {now}"; // the error of a late decision
const RETRY = 3000; // milliseconds until the stream is tried again where it cannot be had
const SILENCE = 40000; // milliseconds without a sign of life from the server after which the stream counts as lost

// `page` has functions: `seat()`, whose view it shows; `shown()`, the view that it shows; `sit(seat)`, to show the views
// of a seat; `loseSeat()`, when somebody else has it; `show(view, live)`, where changes are animated if it is `live`;
// `refused()`, after a request that failed.
export function connect(api, page) {
  const underWay = new Set(); // requests
  let lastPaceChange = Promise.resolve();
  let stream = null;
  let listener; // the seat for which the stream is
  let streamed = null; // the last view of the stream
  let heard = 0; // when the server was last heard
  let silence = 0; // a timer

  async function claimSeat() {
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    if (!token) return;
    history.replaceState(null, "", location.pathname);
    page.sit((await post(`${api}/sit`, { token })).seat);
  }

  const whose = () => (page.seat() === null ? "own=true" : `seat=${page.seat()}`);
  const viewOf = (more = "") => get(`${api}/view?${whose()}${more}`);

  // Asks for the view, and begins to listen for the next ones.
  async function refresh() {
    const asked = page.seat();
    const found = await viewOf().catch((error) => {
      if (error.status !== 403 || page.seat() === null) throw error;
      page.loseSeat();
      return refresh();
    });
    if (!found || asked !== page.seat()) return;
    if (asked === null && found.seat !== null) page.sit(found.seat);
    offer(found, { live: hear() });
    if (listener !== page.seat()) listen();
  }

  // Shows a view, unless a newer one is shown; then that of the stream, which may be newer than the answer to a request.
  function offer(found, { live = true, anyway = false } = {}) {
    for (const view of [found, streamed]) {
      if (view?.seat === page.seat() && (anyway || !(view.version < page.shown()?.version))) page.show(view, live);
    }
  }

  // Runs a request unless the same one is under way, such as after a double click.
  async function once(what, work) {
    if (underWay.has(what)) return;
    underWay.add(what);
    try {
      await work();
      showMessage("");
    } catch (error) {
      showError(error);
      page.refused();
      if (error.status) await refresh().catch(showError);
    } finally {
      underWay.delete(what);
    }
  }

  // Sends what the seat decides about the version that is shown; `then` is called after the answer has been shown.
  const decide = (what, body = {}, then = () => {}) =>
    once(what, async () => {
      const asked = { seat: page.seat(), version: page.shown().version, ...body };
      offer(
        await post(`${api}/${what}`, asked).catch((error) => {
          if (error.status === 409 && error.key === CHANGED) error.message = GONE_ON;
          throw error;
        }),
      );
      then();
    });

  const postAction = (what, body = {}) =>
    once(what, async () => {
      await post(`${api}/${what}`, body);
      if (stream?.readyState !== EventSource.OPEN) await refresh();
    });

  // Sends the speeds one after the other, so that the last one counts.
  function setPace(value) {
    lastPaceChange = lastPaceChange.then(() => postAction("pace", { pace: value === "" ? null : Number(value) }));
  }

  // Opens the stream for the seat. Its first view counts even if its version is lower than before: a server that was
  // restarted may have lost the last changes.
  function listen() {
    if (stream) end(stream);
    [listener, streamed] = [page.seat(), null];
    const opened = new EventSource(`${api}/events${listener === null ? "" : `?seat=${listener}`}`);
    let anyway = true;
    stream = opened;
    opened.onopen = () => {
      anyway = true;
    };
    opened.addEventListener("alive", hear);
    opened.onmessage = ({ data }) => {
      const live = hear();
      streamed = merged(streamed, JSON.parse(data));
      offer(null, { live, anyway });
      anyway = false;
    };
    opened.onerror = async () => {
      const gone = opened.readyState === EventSource.CLOSED;
      try {
        await refresh();
      } catch (error) {
        showError(error);
        if (error.status === 404) return end(opened);
      }
      if (gone && stream === opened) setTimeout(() => stream === opened && listen(), RETRY);
    };
  }

  function end(opened) {
    opened.close();
    clearTimeout(silence);
  }

  // Notes a sign of life; returns whether the last one is not long ago.
  function hear() {
    const live = Date.now() - heard < SILENCE;
    heard = Date.now();
    endMessage(LOST);
    clearTimeout(silence);
    silence = setTimeout(listen, SILENCE);
    return live;
  }

  return { claimSeat, viewOf, refresh, once, decide, postAction, setPace };
}

// A view with its changes. Lines of the board that stay are given as [first, end], counted in the board before.
function merged(before, changed) {
  if (typeof changed.board !== "object") return { ...before, ...changed };
  const lines = before.board.split("\n");
  const board = changed.board.flatMap((piece) => (typeof piece === "string" ? [piece] : lines.slice(...piece)));
  return { ...before, ...changed, board: board.join("\n") };
}
