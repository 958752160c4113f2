/**
 * Which rows of a feed are shown: by ids, or by a selector that is matched many documents at a
 * time. The order of rows is none of its business.
 */
package lectus.changes.filter;
