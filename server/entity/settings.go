package entity

import "svc/internal/config"

// FromSettings takes what entities need from the settings.
func FromSettings(c *config.Config) Config {
	base := c.URL().String()
	return Config{
		Name:       c.API.Name,
		BaseURL:    base,
		Domain:     c.Host(),
		MediaURL:   base + "/media/",
		CacheBytes: int(c.Cache.RenderedBytes),
		Settings:   c,
	}
}
