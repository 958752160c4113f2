package lectus.http.socket;

import java.util.OptionalLong;
import lectus.feed.page.FeedOptions;

/**
 * What a subscription's rows show, how many there may be, and when.
 *
 * @param limit rows after which it ends
 * @param heartbeatMillis a heartbeat comes this often when there is nothing else; empty: never
 * @param credits rows that may be sent before the client asks for more; empty: not counted
 */
public record Terms(
    FeedOptions options, long limit, OptionalLong heartbeatMillis, OptionalLong credits) {}
