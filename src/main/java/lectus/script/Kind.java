package lectus.script;

/** What a call is for: how many arguments a function gets, and what becomes of its result. */
public enum Kind {
  /**
   * No arguments; {@code true} if the function compiles. With no path: if views and {@code
   * validate_doc_update} do, or are in another language.
   */
  COMPILE,
  /** New document, old document or null, user context, security object; {@code true}. */
  VALIDATE,
  /**
   * Document, request; true or false, or {@code {"result":true,"touched":true}} if the function
   * read one of the request's {@code headers}, {@code peer}, {@code cookie}, {@code uuid}, {@code
   * raw_path} and {@code info}, or a parameter that says how a feed is read.
   */
  FILTER,
  /** Document or null, request; {@code [document or null, response]}. */
  UPDATE,
  /**
   * Document; {@code [[key,value],…]}. With the path {@code ["views"]} the maps of all views, in
   * their order: an array of such arrays, with {@code {"error":…}} in place of one that threw. One
   * that does not compile fails them all.
   */
  MAP,
  /** {@code [[key,id],…]}, values; the value. */
  REDUCE,
  /** Values; the value. */
  REREDUCE,
  /** Document; whether a map emits anything for it. */
  VIEW_FILTER
}
