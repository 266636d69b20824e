"""netdyno's side of a comparison: the packed worker's trainer, exactly as a run builds it, timed in blocks.

<framework's python> netdyno_side.py worker-HASH.pyz request.json
"""

import sys

from blocks import serve


def main() -> None:
    worker, request_path = sys.argv[1:]
    sys.path.insert(0, worker)
    from netdyno_worker.build import prepare
    from netdyno_worker.contract import load_adapter
    from netdyno_worker.main import keep_to_cpus
    from netdyno_worker.protocol import read_request

    request = read_request(request_path)
    keep_to_cpus(request["cpus"])
    trainer = prepare(load_adapter(request["adapter"]), request, lambda *_, **__: None)
    serve(trainer.step, trainer.wait)


if __name__ == "__main__":
    main()
