/**
 * Live tails: what is new in a source is read once for all listeners of a server that have caught
 * up. What is read is for the reader to say.
 *
 * <p>A {@link lectus.feed.TailReader} reads. A {@code LiveTail} drives it and passes each page to
 * its outlets ({@link lectus.feed.tail.TailOutlet}), one per event loop. Listeners with equal
 * options share a {@link lectus.feed.View}, and a {@link lectus.feed.tail.TailSeat} gives an outlet
 * one view of the tail. See docs/feeds.md, "Live feeds".
 */
package lectus.feed.tail;
