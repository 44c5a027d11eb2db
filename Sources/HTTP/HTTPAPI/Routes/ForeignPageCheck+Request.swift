package import NIOHTTP1
package import WebOrigins

extension ForeignPageCheck {
    /// Throws `host_refused` and `origin_refused`.
    func check(_ head: HTTPRequestHead, to endpoint: Endpoint) throws(Problem) {
        let host = head.headers["host"]
        do throws(ForeignPageRefusal) {
            try check(host: host)
            if endpoint.method != .get, endpoint.origins == .own {
                try check(RequestSender(head.headers))
            }
        } catch {
            switch error {
            case .host: throw Problem(.hostRefused)
            case .origin: throw Problem(.originRefused)
            }
        }
    }
}

extension RequestSender {
    package init(_ headers: HTTPHeaders) {
        self.init(origin: headers["origin"], site: headers["sec-fetch-site"], host: headers["host"])
    }
}
