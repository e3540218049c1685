p='day06-llm-attention/05-sparse-attention/lesson.md'
s=open(p).read()
R='../../solutions/day06-llm-attention/05-sparse-attention/'
s=s.replace('*120 minutes, hard. Needs chapters 01 and 02. Runs on any GPU and in the simulator.*','*120 minutes, hard; "Go faster" 1 hour more. Needs chapters 01 and 02. Runs on any GPU\nand in the simulator.*')
s=s.replace(R+'block_02_register_tiles.cuh#v3-launch{cuda}',R+'sparse_attention_fast.cu#v3-launch{cuda}\n<<< '+R+'sparse_attention.cu#block-versions{cuda}')
s=s.replace(R+'block_02_register_tiles.cuh',R+'sparse_attention_fast.cu')
a='## The solution, version by version\n'
assert s.count(a)==1
s=s.replace(a,'''## Go faster

In v1 of blocks, 128 threads read a key together, and use each number once. Chapter 02's
register tiles use it eight times. They walk over all tiles of keys, one after the other;
a list has only some of them. **You write what is new**: where the next tile comes from,
and which of its pairs count. Open `sparse_attention_fast.cu`.

```text
 a row of blocks    full: 2, 5    partial: 7          a block is kSteps tiles long

 step               0     1     2     3     4     5    kSteps = 2, tiles of 32 keys
 place            full  full  full  full  part. part.
 block              2     2     5     5     7     7
 first key         128   160   320   352   448   480
 mask               -     -     -     -    bits  bits
                                           0-31  32-63
```

Full blocks come first: then the loop needs the masks from one step on, and not before.

<<< ./sparse_attention_fast.cu#walk{cuda}
<<< ./sparse_attention_fast.cu#mask{cuda}

The kernel calls `first_key` for the step after the next barrier, for the list is far
away in memory: it must cost nothing where there is no such step. The kernel, and
`sparse_attention` in `rows.cuh`, are given. Then delete the line with
`WB_NOT_SOLVED()`: both functions call what it is in.

```bash
./learn check sparse_attention --fast
./learn bench sparse_attention --fast     # with a GPU: bronze, silver, gold
```

The same tests grade it, and a goal in counters of the simulator: 128 queries read each
block that is listed once, and no other.

::: details Stuck? Three hints, one at a time
<!--@include: ./hints_fast.md-->
:::

'''+a)
open(p,'w').write(s)
