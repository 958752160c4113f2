package lectus.http.message;

import io.vertx.core.http.HttpMethod;

/** The request methods that some resource knows. */
public enum Method {
  GET,
  HEAD,
  PUT,
  POST,
  DELETE,
  COPY,
  OPTIONS,
  OTHER;

  /**
   * The method that a request means. Clients that can send nothing but GET and POST name another
   * method in a header of a POST. With any other method CouchDB ignores that header, and so does
   * this. {@code HEAD} in it is a GET: for the client's HTTP library the answer to a POST has a
   * body.
   *
   * @param override the header {@code X-HTTP-Method-Override}; null if absent
   */
  public static Method of(HttpMethod method, String override) {
    if (override == null || method != HttpMethod.POST) {
      return of(method);
    }
    return switch (override) {
      case "GET", "HEAD" -> GET;
      case "PUT" -> PUT;
      case "DELETE" -> DELETE;
      case "COPY" -> COPY;
      case "TRACE", "CONNECT" -> OTHER;
      default -> POST;
    };
  }

  public static Method of(HttpMethod method) {
    if (method == HttpMethod.GET) {
      return GET;
    }
    if (method == HttpMethod.PUT) {
      return PUT;
    }
    return switch (method.name()) {
      case "GET" -> GET;
      case "HEAD" -> HEAD;
      case "PUT" -> PUT;
      case "POST" -> POST;
      case "DELETE" -> DELETE;
      case "COPY" -> COPY;
      case "OPTIONS" -> OPTIONS;
      default -> OTHER;
    };
  }
}
