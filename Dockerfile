# docker build -t punc . && docker run -p 127.0.0.1:2701:2701 punc      (docs/serve.md)
FROM python:3.11-slim
COPY . /src
RUN pip install --no-cache-dir --constraint /src/constraints.txt "/src[serve]" && rm -r /src
ENV OMP_NUM_THREADS=1 PYTHONUTF8=1
USER nobody
EXPOSE 2701
# The port is published on the loopback of the host; see above.
ENTRYPOINT ["punc", "serve", "--host", "0.0.0.0"]
