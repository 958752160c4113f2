package lectus.http.admin;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Map;
import lectus.http.Method;
import lectus.http.OtherMembers;
import lectus.http.OtherMembers.Answer;
import lectus.http.OtherMembers.Question;
import lectus.http.Reply;

/** The own resources of other members. */
final class RemoteParts {
  private final OtherMembers others;
  private final OwnResources own;

  /**
   * @param own of this server, for what all servers of a store share
   */
  RemoteParts(OtherMembers others, OwnResources own) {
    this.others = others;
    this.own = own;
  }

  /** Admins are the store's. They are made here, so that no password crosses the bus. */
  Future<Reply> answer(String member, NodeRequest request) {
    return isAboutAdmins(request)
        ? others.meet(member).compose(met -> own.answer(request))
        : others.ask(member, question(request)).map(RemoteParts::reply);
  }

  private static boolean isAboutAdmins(NodeRequest request) {
    return request.path().size() > 1
        && request.name(0).equals("_config")
        && request.name(1).equals(ConfigResource.ADMINS);
  }

  private static Question question(NodeRequest request) {
    Method method = request.method() == Method.HEAD ? Method.GET : request.method();
    return new Question(method.name(), request.path(), request.accept(), request.body());
  }

  private static Reply reply(Answer answer) {
    Reply reply =
        new Reply(answer.status(), answer.type(), Buffer.buffer(answer.body()), List.of());
    for (Map.Entry<String, String> header : answer.headers().entrySet()) {
      reply = reply.with(header.getKey(), header.getValue());
    }
    return reply;
  }
}
