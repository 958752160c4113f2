package lectus.changes.page;

/**
 * The first page of a feed.
 *
 * @param end the database's last position at the page's read version
 */
record FirstPage(FeedPage page, FeedPosition end) {}
