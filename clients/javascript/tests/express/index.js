// As much of Express as the program of README.md needs: middleware in its order, routes, and express.json().
const { createServer } = require("node:http");

module.exports = function express() {
    const layers = [];
    const add = (method, path, handler) => layers.push({ method, path, handler });
    const server = createServer((request, response) => {
        response.json = (value) => response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(value));
        const open = layers.filter(({ method, path }) => !method || (method === request.method && path === request.url));
        (function next(error) {
            const layer = open.shift();
            if (!layer) return response.writeHead(error ? 500 : 404).end();
            // Handlers with four parameters are for errors.
            if ((layer.handler.length === 4) !== (error !== undefined)) return next(error);
            return error ? layer.handler(error, request, response, next) : layer.handler(request, response, next);
        })();
    });
    return {
        use: (handler) => add(undefined, undefined, handler),
        get: (path, handler) => add("GET", path, handler),
        post: (path, handler) => add("POST", path, handler),
        listen: (...place) => server.listen(...place),
    };
};

module.exports.json = () => async (request, _, next) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    request.body = text ? JSON.parse(text) : undefined;
    next();
};
