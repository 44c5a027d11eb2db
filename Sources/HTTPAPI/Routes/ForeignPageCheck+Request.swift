import ForeignPages
import NIOHTTP1

extension ForeignPageCheck {
    /// Throws `host_refused` and `origin_refused`.
    func check(_ head: HTTPRequestHead, to route: Route) throws(Problem) {
        let host = head.headers["host"]
        do throws(ForeignPageRefusal) {
            try check(host: host)
            // Apple's page posts its form to the callback from Apple's origin. The state in the form binds it
            // to the browser. The consent page hides its origin, because it sends no referrer (Fetch §3.2);
            // its form has a token.
            // Userinfo is for pages that have an access token.
            if route.method != .get, route != .webCallback, route != .answerConsent, route != .postUserInfo {
                try check(origin: head.headers["origin"], host: host)
            }
        } catch {
            switch error {
            case .host: throw Problem(.hostRefused)
            case .origin: throw Problem(.originRefused)
            }
        }
    }
}
