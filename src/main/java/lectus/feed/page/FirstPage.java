package lectus.feed.page;

/**
 * The first page of a feed.
 *
 * @param end how far the database was at the page's read version
 */
record FirstPage(FeedPage page, FeedPosition end) {}
