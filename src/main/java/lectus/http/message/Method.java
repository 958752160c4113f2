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
