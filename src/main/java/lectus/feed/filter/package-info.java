/**
 * Which rows of a feed are shown: by ids, or by a selector that is matched many documents at a
 * time.
 */
package lectus.feed.filter;
