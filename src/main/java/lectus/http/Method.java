package lectus.http;

import io.vertx.core.http.HttpMethod;

/** The request methods that resources implement. */
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
   * Returns the effective method of a request. Clients that can only send GET and POST name another
   * method in a header of a POST. As in CouchDB, the header is ignored with any other method.
   * {@code HEAD} in it means GET: the client's HTTP library expects a body in the answer to a POST.
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
