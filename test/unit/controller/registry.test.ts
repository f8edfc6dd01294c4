import type { AnyActorRef } from "xstate";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { LivingActors } from "../../../src/controller/registry.ts";

const actor = (value: string): AnyActorRef => ({ getSnapshot: () => ({ value }) }) as unknown as AnyActorRef;

test("where two actors have one name the newer one is shown while it lives, then the older one again", () => {
  const added: string[] = [];
  const actors = new LivingActors((name) => added.push(name));
  const [serving, tried, triedAgain] = [actor("serving"), actor("tried"), actor("tried again")];
  actors.add("watcher:things", serving);
  actors.add("watcher:things", tried);
  actors.add("watcher:things", triedAgain);
  assert.is(actors.state("watcher:things"), "tried again");
  actors.remove("watcher:things", tried);
  assert.is(actors.state("watcher:things"), "tried again");
  actors.remove("watcher:things", triedAgain);
  assert.is(actors.state("watcher:things"), "serving");
  actors.remove("watcher:things", triedAgain);
  assert.is(actors.state("watcher:things"), "serving", "who is gone already takes nobody else along");
  actors.remove("watcher:things", serving);
  assert.equal([...actors.list()], []);
  assert.is(added.length, 3);
});

test.run();
