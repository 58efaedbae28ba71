package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// chaosClient is an app of one account. It changes what only it changes, so that it knows what each row must contain.
type chaosClient struct {
	model *chaosModel
	http  *http.Client
	url   string
	nick  string
	token string
	rand  *rand.Rand

	next   int
	posts  []chaosPost // that exist
	lost   []chaosPost // whose publication has no answer
	marker int
	shared *sharedPosts
}

type chaosPost struct {
	tag, id string
	kept    bool // it is never edited or deleted, so that others can react to it
}

// send sends a request. ok is false without an answer, or if the answer is that the server cannot do it now.
func (c *chaosClient) send(method, path, contentType string, body io.Reader, answer any, headers ...string) (ok bool) {
	req, err := http.NewRequest(method, c.url+path, body)
	if err != nil {
		return false
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	c.model.count("requests")
	resp, err := c.http.Do(req)
	if err != nil {
		c.model.count("no answer")
		return false
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 500 {
		c.model.count(fmt.Sprint("answers ", resp.StatusCode))
		return false
	}
	if resp.StatusCode != 200 {
		c.model.count("unexpected: " + fmt.Sprint(method, " ", strings.TrimRight(path, "0123456789"), " ", resp.StatusCode, " ", string(b)))
		return false
	}
	return answer == nil || json.Unmarshal(b, answer) == nil
}

func (c *chaosClient) form(method, path string, values url.Values, answer any, headers ...string) bool {
	return c.send(method, path, "application/x-www-form-urlencoded", strings.NewReader(values.Encode()), answer, headers...)
}

// step performs one random operation. It returns false if the server did not answer.
func (c *chaosClient) step() bool {
	if len(c.lost) > 0 { // as apps do: the same request with the same key
		p := c.lost[0]
		c.lost = c.lost[1:]
		return c.publish(p, "")
	}
	switch n := c.rand.IntN(100); {
	case n < 25:
		return c.publish(c.newPost(), "")
	case n < 33:
		return c.edit()
	case n < 43:
		return c.remove()
	case n < 58:
		return c.react("favourite", "unfavourite")
	case n < 66:
		return c.react("reblog", "unreblog")
	case n < 72:
		return c.react("bookmark", "unbookmark")
	case n < 79:
		return c.follow()
	case n < 85:
		return c.upload()
	case n < 89:
		return c.moveMarker()
	case n < 95:
		return c.readNotification()
	default:
		return c.send("GET", "/api/v1/timelines/home", "", nil, nil)
	}
}

func (c *chaosClient) newPost() chaosPost {
	c.next++
	return chaosPost{tag: fmt.Sprintf("%s-%d", c.nick, c.next), kept: c.rand.IntN(3) == 0}
}

// publish publishes a post with a key of its own, so that it can be repeated.
func (c *chaosClient) publish(p chaosPost, media string) bool {
	text := p.tag + " first version, with some words to search for"
	values := url.Values{"status": {text}}
	if media != "" {
		values.Set("media_ids[]", media)
	}
	c.model.begin("post "+p.tag, text)
	var st struct{ ID string }
	if !c.form("POST", "/api/v1/statuses", values, &st, "Idempotency-Key", p.tag) {
		if media == "" {
			c.lost = append(c.lost, p)
		}
		return false
	}
	p.id = st.ID
	c.model.acknowledge("post "+p.tag, text)
	c.posts = append(c.posts, p)
	if p.kept {
		c.shared.add(p)
	}
	return true
}

// own returns the place of a random post that may be changed.
func (c *chaosClient) own() (int, bool) {
	for range 10 {
		if len(c.posts) == 0 {
			break
		}
		if i := c.rand.IntN(len(c.posts)); !c.posts[i].kept {
			return i, true
		}
	}
	return 0, false
}

func (c *chaosClient) edit() bool {
	i, ok := c.own()
	if !ok {
		return true
	}
	p := c.posts[i]
	c.next++
	text := fmt.Sprintf("%s version %d", p.tag, c.next)
	c.model.begin("post "+p.tag, text)
	if !c.form("PUT", "/api/v1/statuses/"+p.id, url.Values{"status": {text}}, nil) {
		c.posts = append(c.posts[:i], c.posts[i+1:]...) // its text is not known for certain
		return false
	}
	c.model.acknowledge("post "+p.tag, text)
	return true
}

func (c *chaosClient) remove() bool {
	i, ok := c.own()
	if !ok {
		return true
	}
	p := c.posts[i]
	c.posts = append(c.posts[:i], c.posts[i+1:]...)
	c.model.begin("post "+p.tag, "")
	if !c.send("DELETE", "/api/v1/statuses/"+p.id, "", nil, nil) {
		return false
	}
	c.model.acknowledge("post "+p.tag, "")
	return true
}

// react does or undoes something with a post of any account.
func (c *chaosClient) react(do, undo string) bool {
	p, ok := c.shared.random(c.rand)
	if !ok {
		return true
	}
	key := do + " " + c.nick + " " + c.url + "/objects/" + p.id
	action, value := do, "1"
	if c.rand.IntN(3) == 0 {
		action, value = undo, ""
	}
	c.model.begin(key, value)
	if !c.send("POST", "/api/v1/statuses/"+p.id+"/"+action, "", nil, nil) {
		return false
	}
	c.model.acknowledge(key, value)
	return true
}

func (c *chaosClient) follow() bool {
	other := c.rand.IntN(chaosClients)
	nick := chaosNick(other)
	if nick == c.nick {
		return true
	}
	key, action, value := "follow "+c.nick+" "+nick, "follow", "1"
	if c.rand.IntN(2) == 0 {
		action, value = "unfollow", ""
	}
	c.model.begin(key, value)
	if !c.send("POST", "/api/v1/accounts/"+c.shared.accounts[other]+"/"+action, "", nil, nil) {
		return false
	}
	c.model.acknowledge(key, value)
	return true
}

// upload uploads a file, and attaches it to a post, deletes it, or leaves it.
func (c *chaosClient) upload() bool {
	content := []byte("\xff\xfb\x90\x64")
	for len(content) < 3000 {
		content = strconv.AppendUint(content, c.rand.Uint64(), 36)
	}
	file := hexSum(content)
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, _ := form.CreateFormFile("file", "a.mp3")
	part.Write(content)
	form.Close()
	c.model.begin("upload "+file, "1")
	var m struct{ ID string }
	if !c.send("POST", "/api/v1/media", form.FormDataContentType(), &b, &m) {
		return false
	}
	c.model.acknowledge("upload "+file, "1")
	switch c.rand.IntN(3) {
	case 0:
		c.model.begin("upload "+file, "")
		if !c.send("DELETE", "/api/v1/media/"+m.ID, "", nil, nil) {
			return false
		}
		c.model.acknowledge("upload "+file, "")
	case 1:
		p := c.newPost()
		p.kept = true
		c.model.begin("upload "+file, "")
		c.model.begin("file "+p.tag, file)
		if !c.publish(p, m.ID) {
			return false
		}
		c.model.acknowledge("upload "+file, "")
		c.model.acknowledge("file "+p.tag, file)
	}
	return true
}

func (c *chaosClient) moveMarker() bool {
	c.marker++
	key, value := "marker "+c.nick+" home", strconv.Itoa(c.marker)
	c.model.begin(key, value)
	if !c.form("POST", "/api/v1/markers", url.Values{"home[last_read_id]": {value}}, nil) {
		return false
	}
	c.model.acknowledge(key, value)
	return true
}

// readNotification marks a notification as read, or dismisses it. Notifications disappear with the favourite or follow that they
// are about, so that only a dismissal is a fact.
func (c *chaosClient) readNotification() bool {
	var list []struct{ ID string }
	if !c.send("GET", "/api/v1/notifications?limit=10", "", nil, &list) {
		return false
	}
	if len(list) == 0 {
		return true
	}
	id := list[c.rand.IntN(len(list))].ID
	if c.rand.IntN(2) == 0 {
		return c.form("POST", "/api/v1/svc/notifications/read", url.Values{"max_id": {id}}, nil)
	}
	key := "notification " + id
	c.model.begin(key, "1")
	c.model.begin(key, "")
	req, err := http.NewRequest("POST", c.url+"/api/v1/notifications/"+id+"/dismiss", nil)
	if err != nil {
		return false
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	c.model.count("requests")
	resp, err := c.http.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	if resp.StatusCode != 200 && resp.StatusCode != 404 { // 404: undone meanwhile
		return false
	}
	c.model.acknowledge(key, "")
	return true
}

// run performs operations until stop is closed or the server does not answer; while it only refuses, it goes on.
func (c *chaosClient) run(stop chan struct{}, whileRefused bool) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		if !c.step() {
			if !whileRefused {
				return
			}
			time.Sleep(2 * time.Millisecond) // the disk is full; a client would wait longer
		}
	}
}
