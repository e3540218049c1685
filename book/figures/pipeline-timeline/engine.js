/**
 * pipeline-timeline/engine.js: a small simulation of one multiprocessor in time.
 *
 * Processes are generators: they start jobs on units, and yield what they wait for.
 * Time goes from one end of a job to the next.
 */

/** Something that happens once. */
export class Signal {
  constructor() {
    this.isSet = false;
  }
}

/** Something that is counted, and taken one at a time: an empty buffer, a turn. */
export class Counter {
  constructor(count = 0) {
    this.count = count;
  }
}

/**
 * A unit of the multiprocessor. Jobs of one `order` are served at the same time; an
 * owner's jobs come one after the other. A smaller order goes first.
 */
class Unit {
  /** @param {(jobs: number) => number} slowdown  of each of so many jobs at a time */
  constructor(slowdown) {
    this.jobs = [];
    this.slowdown = slowdown;
  }

  add(job) {
    this.jobs.push(job);
    this.jobs.sort((a, b) => a.order - b.order); // stable: first come, first served
  }

  /** The jobs that are being served. */
  active() {
    const owners = new Set();
    return this.jobs.filter((job) => {
      if (job.order !== this.jobs[0].order || owners.has(job.owner)) return false;
      owners.add(job.owner);
      return true;
    });
  }
}

/** Runs processes until all have ended. */
export class Engine {
  /**
   * @param {Object<string, (jobs: number) => number>} slowdowns  by unit: how many
   *   times slower each of so many jobs is that are served at a time; without an entry
   *   they share its speed
   */
  constructor(slowdowns = {}) {
    this.slowdowns = slowdowns;
    this.time = 0;
    this.units = new Map();
    this.waiting = [];
    this.bars = [];
  }

  /**
   * Starts a job.
   * @param {object} job  { unit, owner, order, work, ... }: work in cycles of the unit
   *   alone; whatever else it has is kept in its bar
   * @returns {Signal} set when it has ended
   */
  start(job) {
    if (!this.units.has(job.unit)) {
      const slowdown = this.slowdowns[job.unit] ?? ((jobs) => jobs);
      this.units.set(job.unit, new Unit(slowdown));
    }
    const done = new Signal();
    this.units.get(job.unit).add({ ...job, left: job.work, begin: null, done });
    return done;
  }

  /** @param {Generator} process  yields Signals and Counters */
  run(...processes) {
    this.waiting = processes.map((process) => ({ process, on: null }));
    while (this.waiting.length > 0) {
      this.#resume();
      if (!this.#advance() && this.waiting.length > 0) {
        throw new Error('processes wait for each other');
      }
    }
    while (this.#advance()); // what nobody waited for
  }

  /** Lets processes go on until each waits for something that has not happened. */
  #resume() {
    for (let moved = true; moved; ) {
      moved = false;
      for (const entry of [...this.waiting]) {
        if (!this.#take(entry.on)) continue;
        moved = true;
        const { value, done } = entry.process.next();
        entry.on = value;
        if (done) this.waiting.splice(this.waiting.indexOf(entry), 1);
      }
    }
  }

  #take(on) {
    if (on === null) return true;
    if (on instanceof Signal) return on.isSet;
    if (on.count === 0) return false;
    --on.count;
    return true;
  }

  /** To the end of the next job. Returns false if there is none. */
  #advance() {
    let step = Infinity;
    const all = [...this.units.values()].map((unit) => {
      const active = unit.active();
      return { unit, active, slowdown: unit.slowdown(active.length) };
    });
    for (const { active, slowdown } of all) {
      for (const job of active) step = Math.min(step, job.left * slowdown);
    }
    if (step === Infinity) return false;
    for (const { unit, active, slowdown } of all) {
      for (const job of active) {
        job.begin ??= this.time;
        job.left -= step / slowdown;
        if (job.left > 1e-6) continue;
        const { left, begin, done, ...rest } = job;
        this.bars.push({ ...rest, begin, end: this.time + step });
        done.isSet = true;
        unit.jobs.splice(unit.jobs.indexOf(job), 1);
      }
    }
    this.time += step;
    return true;
  }
}
