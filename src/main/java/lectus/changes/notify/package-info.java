/**
 * Live tails: what is new in a source is read once for all listeners of a server that have caught
 * up. What is read is for the reader to say.
 *
 * <p>A {@link lectus.changes.page.LiveSource.TailReader} reads. A {@code LiveTail} drives it and
 * passes each page to its outlets ({@link lectus.changes.notify.TailRegistry.TailOutlet}), one per
 * event loop. Listeners with equal options share a {@link lectus.changes.page.LivePage.View}, and a
 * {@link lectus.changes.notify.TailRegistry.TailSeat} gives an outlet one view of the tail. See
 * docs/feeds.md, "Live feeds". Waking listeners when a database moved: events and the channel that
 * carries them, the listeners of each database, and the poller that finds what no event announced.
 * No class here knows how servers find each other.
 */
package lectus.changes.notify;
