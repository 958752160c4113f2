/**
 * Live tails: what is new in a source is read once for all listeners of a server that have caught
 * up.
 *
 * <p>A {@link lectus.feed.TailReader} reads; a {@code LiveTail} drives it and hands each page to
 * its outlets ({@link lectus.feed.tail.TailOutlet}), one for each event loop. Listeners with equal
 * options share a {@link lectus.feed.View}, and a {@link lectus.feed.tail.TailSeat} gives an outlet
 * one view of the tail. ARCHITECTURE.md, "Live feeds".
 */
package lectus.feed.tail;
