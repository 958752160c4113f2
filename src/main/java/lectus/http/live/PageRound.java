package lectus.http.live;

import java.util.Collection;
import java.util.Iterator;
import lectus.feed.LivePage;
import lectus.feed.ResumePoint;
import lectus.feed.TailPage;
import lectus.feed.ViewPage;

/** A page of a tail on its way through the listeners of an event loop that it concerns. */
final class PageRound<P extends ResumePoint<P>> {
  /** Listeners that get a page in one turn of the event loop; requests are served between turns. */
  private static final int LISTENERS_A_TURN = 100;

  private final TailPage<P> page;
  private final Iterator<LoopView<P>> views;
  private LoopView<P> view;
  private LivePage<P> shown;
  private int place;

  PageRound(TailPage<P> page, Collection<LoopView<P>> views) {
    this.page = page;
    this.views = views.iterator();
  }

  TailPage<P> page() {
    return page;
  }

  /** Hands the page to the next listeners; returns false if there are no more. */
  boolean turn() {
    for (int listeners = 0; listeners < LISTENERS_A_TURN; listeners++) {
      while (view == null || place == view.places()) {
        if (!views.hasNext()) {
          return false;
        }
        view = views.next();
        shown = page.of(view.view());
        place = 0;
      }
      LiveListener<P> listener = view.at(place);
      place++;
      if (listener != null) {
        listener.guarded(() -> hand(listener));
      }
    }
    return true;
  }

  private void hand(LiveListener<P> listener) {
    listener.passed(page.from());
    if (!listener.maySee(page.readers())) {
      return;
    }
    ViewPage<P> special = page.views().get(view.view());
    if (special instanceof ViewPage.Failed<P> failed) {
      listener.fail(failed.failure());
    } else if (special instanceof ViewPage.Crowded) {
      listener.readAlone();
    } else {
      listener.take(shown);
    }
  }
}
