// The connection of a page to its game: requests, one of each kind at a time, and the stream.

import { get, post, showError, showMessage } from "./common.js";

const RETRY = 2000; // milliseconds

// `page` has functions: `seat()`, whose view it shows; `shown()`, the view that it shows; `show(view)`; `sit(seat)`, for
// the seat of a link; `loseSeat()`, when somebody else has it now; `refused()`, after a request that failed.
export function connect(api, page) {
  const underWay = new Set(); // requests
  let missedVersion; // sent by the stream during a request; null: something else has changed
  let lastPaceChange = Promise.resolve();

  async function claimSeat() {
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    if (!token) return;
    history.replaceState(null, "", location.pathname);
    page.sit((await post(`${api}/sit`, { token })).seat);
  }

  const viewOf = (more = "") => get(`${api}/view?${page.seat() === null ? "" : `seat=${page.seat()}`}${more}`);

  async function refresh() {
    const asked = page.seat();
    const found = await viewOf().catch((error) => {
      if (error.status !== 403 || page.seat() === null) throw error;
      page.loseSeat();
      return refresh();
    });
    if (!found) return;
    if (asked === page.seat() && (!page.shown() || found.version >= page.shown().version)) page.show(found);
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
      if (missedVersion !== undefined && missedVersion !== page.shown()?.version) refresh().catch(showError);
      missedVersion = undefined;
    }
  }

  // Sends what the seat decides about the version that is shown; `then` is called after the answer has been shown.
  const decide = (what, body = {}, then = () => {}) =>
    once(what, async () => {
      page.show(await post(`${api}/${what}`, { seat: page.seat(), version: page.shown().version, ...body }));
      then();
    });

  const postAction = (what, body = {}) =>
    once(what, async () => {
      await post(`${api}/${what}`, body);
      await refresh();
    });

  // Sends the speeds one after the other, so that the last one counts.
  function setPace(value) {
    lastPaceChange = lastPaceChange.then(() => postAction("pace", { pace: value === "" ? null : Number(value) }));
  }

  // The stream sends only that something has changed.
  function listen() {
    const events = new EventSource(`${api}/events`);
    let lost = false;
    const told = (version) => {
      if (lost) showMessage("");
      lost = false;
      if (underWay.has("moves") || underWay.has("undo"))
        missedVersion = version; // the answer to the request may be newer
      else if (version !== page.shown()?.version) refresh().catch(showError);
    };
    events.onmessage = ({ data }) => told(Number(data));
    events.addEventListener("same", () => told(null)); // something else has changed, such as the speed
    events.onerror = () => {
      lost = true;
      showMessage("The server cannot be reached; this page tries again.");
      if (events.readyState === EventSource.CLOSED) setTimeout(listen, RETRY);
    };
  }

  return { claimSeat, viewOf, refresh, once, decide, postAction, setPace, listen };
}
